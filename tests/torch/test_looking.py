"""Looking without kernels: on the rows of the equivalence table, within the bounds that the kernels are held to.

Here one row in five, of the groups that are not about a path that only a kernel takes. All of them are looked at, and
differentiated in blocks, by `python -m tests.torch.test_looking`, which names the rows that fail.
"""

from __future__ import annotations

import pytest

from ..equivalence import BIASES, GROUPED, KINDS, LAYOUT_ROWS, LEADING, LOOKED, MASKS, OPTIONS, STRANGE
from ..problems import Row, build
from ..views.truth import check_look
from .forced import arrays_in_blocks, in_blocks, look_elsewhere
from .gradients import check_gradients, torch_can_hold

HELD = [row for row in LOOKED if torch_can_hold(row)]
GROUPS = (MASKS, BIASES, OPTIONS, STRANGE, LEADING, GROUPED, KINDS, LAYOUT_ROWS)
SOME = [row for group in GROUPS for row in group[::5] if row in HELD]


@pytest.mark.parametrize("row", SOME, ids=str)
def test_what_is_seen_is_what_the_textbook_says(row: Row):
    check_look(build(row), look=look_elsewhere, attention=arrays_in_blocks)


def main() -> None:
    """Every row there is."""
    for row in HELD:
        try:
            check_look(build(row), look=look_elsewhere, attention=arrays_in_blocks)
            check_gradients(build(row), run=in_blocks)
        except AssertionError as error:
            print(f"{row}: {error}", flush=True)


if __name__ == "__main__":
    main()
