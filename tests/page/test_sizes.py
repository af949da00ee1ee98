"""The command that measures pages works; what the translator's page weighs."""

from __future__ import annotations

from playwright.sync_api import Browser
from tests.page import sizes


def test_the_translator_s_page_is_under_a_megabyte_and_opens(browser: Browser, tmp_path):
    path = sizes.translator_page(tmp_path)
    assert path.stat().st_size < 1_000_000
    assert 0 < sizes.opening_time(browser, path) < 30


def test_a_model_s_page_has_all_of_its_heads(tmp_path):
    path = sizes.model_page(tmp_path, layers=2, heads=3, tokens=17)
    assert '"name":"layer 1"' in path.read_text(encoding="utf-8")
