"""Views say what the textbook's full matrix says, on every row of the table of calls."""

from __future__ import annotations

import pytest

from ..equivalence import LOOKED
from ..problems import Row, build
from .truth import check_look


@pytest.mark.parametrize("row", LOOKED, ids=str)
def test_every_statistic_is_what_the_textbook_says(row: Row):
    check_look(build(row))
