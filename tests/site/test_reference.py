"""Every public name has its place in the reference."""

from __future__ import annotations

import pytest
from docs.site import reference, words

import clearhead
import clearhead.torch
from clearhead.languages import LANGUAGES


@pytest.fixture(scope="module")
def placed() -> dict[str, str]:
    """The page of each path."""
    return {name.path: page for page, found in reference.names().items() for name in found}


@pytest.mark.parametrize(
    ("module", "path"),
    [(clearhead, "clearhead"), (clearhead.masks, "clearhead.masks"), (clearhead.torch, "clearhead.torch")],
)
def test_every_name_of_a_public_module_is_on_a_page(placed, module, path):
    modules = {"biases", "masks", "patterns", "practice", "traces", "views"}
    names = {f"{path}.{name}" for name in module.__all__ if not name.startswith("__") and name not in modules}
    assert names <= placed.keys()


def test_every_name_of_the_textbook_is_on_its_page(placed):
    names = set(clearhead.textbook.__all__) - {"patterns"}
    assert {placed[f"clearhead.{name}"] for name in names} == {"textbook"}
    assert placed["clearhead.patterns.name_pattern"] == "textbook"


def test_a_plain_value_stands_with_the_module_that_defines_it():
    homes = {name.path: name.home for found in reference.names().values() for name in found}
    assert homes["clearhead.MODELS"] == "clearhead.textbook.model_cost"
    assert homes["clearhead.masks.MOST_RANGES"] == "clearhead.masks.ranges"


def test_a_thing_has_one_place(placed):
    values = [id(name.value) for found in reference.names().values() for name in found if callable(name.value)]
    assert len(values) == len(set(values))


def test_a_name_that_would_be_lost_is_told(monkeypatch):
    monkeypatch.delitem(reference.PAGES, "views")
    with pytest.raises(
        ValueError, match=r"clearhead\.look would be on no page of the reference; add the room to PAGES"
    ):
        reference.names()


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_have_their_words_and_their_names(language):
    pages = reference.pages(language)
    assert pages.keys() == {"index.md", *(f"{name}.md" for name in words.REFERENCE_PAGES)}
    assert ".. autofunction:: clearhead.masks.causal" in pages["masks.md"]
    assert ".. autoclass:: clearhead.View" in pages["views.md"]
    assert words.REFERENCE_PAGES["views"][0](language) in pages["views.md"]


def test_what_can_be_called_comes_first():
    modules = [module for module, _ in reference.by_module(reference.names()["masks"])]
    assert modules.index("clearhead.masks.kinds") < modules.index("clearhead.masks.ranges")
    assert reference.by_module(reference.names()["views"])[0][0] == "clearhead.views.view"


def test_the_site_has_a_place_for_each(site, placed):
    for page in set(placed.values()):
        text = (site / "en" / "reference" / f"{page}.html").read_text(encoding="utf-8")
        assert [path for path, there in placed.items() if there == page and f'id="{path}"' not in text] == []
