"""Gradients in blocks of queries and keys, on rows of the equivalence table, judged as those of the kernels are.

Every row of it: `python -m tests.torch.test_looking`.
"""

from __future__ import annotations

import pytest

from ..equivalence import BIASES, GROUPED, KINDS, OPTIONS, PARTS, STRANGE
from ..problems import Row, build
from .forced import in_blocks
from .gradients import check_gradients, torch_can_hold

GROUPS = (BIASES, OPTIONS, STRANGE, PARTS, GROUPED, KINDS)
SOME = [row for group in GROUPS for row in group[1::4] if torch_can_hold(row)]


@pytest.mark.parametrize("row", SOME, ids=str)
def test_output_and_gradients_are_those_of_plain_torch(row: Row):
    check_gradients(build(row), run=in_blocks)
