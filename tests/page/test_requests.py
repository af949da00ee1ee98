"""A few hundred random and malformed requests; `python -m tests.page.requests` makes 10,000."""

from __future__ import annotations

from tests.page.requests import campaign


def test_no_request_fails_leaks_a_file_or_fills_the_memory():
    found, grown = campaign(400, seed=3)
    assert found[200] >= 25
    assert {400, 403, 404, 405} <= set(found)
    assert grown < 100 << 20
