"""Each note's page shows the view that it is to show."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser
from tests.browsing import opening

from clearhead.languages import LANGUAGES
from clearhead.learn import seeing
from clearhead.learn.notes import NOTES

SEEN = {  # the layer that is open, and its view
    "02": ("encoder", "map"),
    "03": (None, "map"),
    "05": ("decoder", "map"),
    "06": ("cross", "lines"),
    "08": (None, "map"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_address_opens_at_what_the_note_speaks_of(browser: Browser, tmp_path, monkeypatch, language):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    found = {}
    with opening(browser) as open_address:
        for note in filter(seeing.is_seen, NOTES):
            page = open_address(seeing.address_of(note, language))
            page.wait_for_selector("clearhead-page[data-ready]")
            shown = "const { layer, view, state } = document.querySelector('clearhead-page').context"
            stack, view, sort = page.evaluate(f"() => {{ {shown}; return [layer.stack, view, state.sort]; }}")
            assert page.evaluate("document.documentElement.lang") == language
            assert (sort == "telling") == (note.number == "08")
            found[note.number] = (stack if SEEN[note.number][0] else None, view)
    assert found == SEEN
