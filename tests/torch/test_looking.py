"""Looking without kernels: on the rows of the equivalence table, within the bounds that the kernels are held to.

Rows that differ from others only in the path or the memory layout that a kernel takes are left out. With
`python -m tests.torch.test_looking` all of them are looked at, and differentiated in blocks.
"""

from __future__ import annotations

import pytest

from ..equivalence import BIASES, GROUPED, KINDS, LAYOUT_ROWS, LEADING, LOOKED, MASKS, OPTIONS, STRANGE
from ..problems import Row, build
from ..views.truth import check_look
from .forced import arrays_in_blocks, in_blocks, look_elsewhere
from .gradients import check_gradients, torch_can_hold

HELD = [row for row in LOOKED if torch_can_hold(row)]
MEANT = [row for row in [*MASKS, *BIASES, *OPTIONS, *STRANGE] if torch_can_hold(row)]
SOME = [row for row in [*LEADING, *GROUPED, *KINDS, *LAYOUT_ROWS] if torch_can_hold(row)][::4]


@pytest.mark.parametrize("row", [row for row in [*MEANT, *SOME] if row in HELD], ids=str)
def test_what_is_seen_is_what_the_textbook_says(row: Row):
    check_look(build(row), look=look_elsewhere, attention=arrays_in_blocks)


def main() -> None:
    """Every row there is."""
    for row in HELD:
        print(row, flush=True)
        check_look(build(row), look=look_elsewhere, attention=arrays_in_blocks)
        check_gradients(build(row), run=in_blocks)


if __name__ == "__main__":
    main()
