"""Gradients in blocks of queries and keys, on rows of the equivalence table, judged as those of the kernels are.

Every row of it: `python -m tests.torch.test_looking`.
"""

from __future__ import annotations

import pytest

from ..equivalence import BIASES, OPTIONS, PARTS, STRANGE
from ..problems import Row, build
from .forced import in_blocks
from .gradients import check_gradients, torch_can_hold
from .test_looking import SOME

MEANT = [row for row in [*BIASES, *OPTIONS, *STRANGE, *PARTS] if torch_can_hold(row)]


@pytest.mark.parametrize("row", [*MEANT[::2], *SOME[::2]], ids=str)
def test_output_and_gradients_are_those_of_plain_torch(row: Row):
    check_gradients(build(row), run=in_blocks)
