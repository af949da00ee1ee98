"""Files become pages, and the links between files links between pages."""

from __future__ import annotations

import json

import pytest
from docs.site import sources
from docs.site.sources import ROOT, page, places, relinked, without_empty_patterns, without_footer

PAGES = places("en")
NOTE = ROOT / "study_notes" / "en" / "02_self_attention.md"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[next](03_multi_head.md)", "[next](03_multi_head.md)"),
        ("[step 4](03_multi_head.md#in-code)", "[step 4](03_multi_head.md#in-code)"),
        ("[contents](../README.md)", "[contents](index.md)"),
        ("[all](../../README.md)", "[all](../index.md)"),
        ("[rooms](../../docs/architecture.md)", "[rooms](../architecture.md)"),
        ("![steps](../figures/02_five_steps_en.svg)", "![steps](../figures/02_five_steps_en.svg)"),
        ("[paper](https://arxiv.org/abs/1706.03762)", "[paper](https://arxiv.org/abs/1706.03762)"),
        ("[here](#in-code)", "[here](#in-code)"),
        ("[the code](../../src/clearhead/checks.py)", "the code"),
        ("[*[a] title*](03_multi_head.md)", "[*[a] title*](03_multi_head.md)"),
        ("```\n[not](../README.md)\n```", "```\n[not](../README.md)\n```"),
    ],
)
def test_links_lead_to_the_same_on_the_site(written, shown):
    assert relinked(written, NOTE, "notes/02_self_attention.md", PAGES) == shown


def test_a_figure_of_the_notes_is_found_from_a_how_to_page():
    path = ROOT / "docs" / "en" / "howto" / "masks.md"
    made = relinked("![m](../../../study_notes/figures/05_masks_en.svg)", path, "howto/masks.md", PAGES)
    assert made == "![m](../figures/05_masks_en.svg)"


def test_a_note_loses_the_line_that_the_site_says_by_itself():
    text = NOTE.read_text(encoding="utf-8")
    assert "[← 01]" in text
    assert "[← 01]" not in without_footer(text)
    assert without_footer("# A\n\nlast line\n") == "# A\n\nlast line\n"


def test_a_list_of_pages_that_fits_none_is_left_out():
    text = "```{toctree}\n:glob:\n\nnotes/index\nnowhere/*\nnotes/*\n```\n"
    assert without_empty_patterns(text, "index.md", PAGES) == "```{toctree}\n:glob:\n\nnotes/index\nnotes/*\n```\n"


def test_a_page_alone_does_not_fit_its_own_pattern():
    text = "```{toctree}\n:glob:\n\n*\n```\n"
    own, other = ROOT / "a.md", ROOT / "b.md"
    assert "*" not in without_empty_patterns(text, "folder/a.md", {own: "folder/a.md", other: "b.md"})
    assert "*" in without_empty_patterns(text, "folder/a.md", {own: "folder/a.md", other: "folder/b.md"})


def test_links_in_a_notebook_are_turned_too(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    path, note = tmp_path / "notebooks" / "tour.en.ipynb", tmp_path / "study_notes" / "en" / "01.md"
    path.parent.mkdir()
    cells = [
        {"cell_type": "markdown", "source": ["See [the ", "note](../study_notes/en/01.md)."]},
        {"cell_type": "code", "source": ["x[0](1)"]},
    ]
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    made = json.loads(page(path, "notebooks/tour.ipynb", {path: "notebooks/tour.ipynb", note: "notes/01.md"}))
    assert made["cells"][0]["source"] == "See [the note](../notes/01.md)."
    assert made["cells"][1] == cells[1]


def test_notebooks_and_how_to_pages_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    for name in ("docs/ko/index.md", "docs/ko/howto/masks.md", "notebooks/tour.ko.ipynb", "notebooks/tour.en.ipynb"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert {"index.md", "howto/masks.md", "notebooks/tour.ipynb"} <= set(places("ko").values())
    assert places("ko")[tmp_path / "notebooks" / "tour.ko.ipynb"] == "notebooks/tour.ipynb"


def test_a_page_in_one_language_alone_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    (tmp_path / "docs" / "ko").mkdir(parents=True)
    (tmp_path / "docs" / "ko" / "only.md").touch()
    with pytest.raises(ValueError, match=r"only\.md would be a page in one language alone; write it in docs/en and"):
        sources.check_languages()
