from __future__ import annotations

import re

import pytest
from tests.documents import ROOT

from clearhead.languages import LANGUAGES
from clearhead.learn import pages
from clearhead.learn.notes import NOTES, asked_note
from clearhead.learn.pages import page_of, write_course


@pytest.fixture(autouse=True)
def no_site(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(pages, "SITE", tmp_path / "html")


def test_every_note_becomes_a_page_that_needs_nothing_else():
    course = write_course()
    written = {str(path.relative_to(course)) for path in course.rglob("*.html")}
    assert written == {"README.html", "glossary.html"} | {f"{c}/{n.name}.html" for c in LANGUAGES for n in NOTES}
    for name in written:
        page = course / name
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<(script|link|iframe)\b", text)
        assert [link for link in re.findall(r'src="([^"]+)"', text) if not link.startswith("data:")] == []
        leads = [link for link in re.findall(r'<a href="([^"#]+)', text) if not link.startswith("https://")]
        assert [link for link in leads if not (page.parent / link).exists()] == []
        prose = re.sub(r"<(pre|code).*?</\1>|<style>.*?</style>", "", text, flags=re.DOTALL)
        assert "**" not in prose
        assert "$" not in prose


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_is_in_the_language_asked_for(language, tmp_path):
    page = page_of(asked_note("03"), language)
    assert page == tmp_path / "state" / "clearhead" / "notes" / language / "03_multi_head.html"
    text = page.read_text(encoding="utf-8")
    assert f'<html lang="{language}">' in text
    assert f"<title>03 · {asked_note('03').title(language)}</title>" in text


def test_the_site_comes_first_where_it_was_built(tmp_path):
    built = tmp_path / "html" / "ko" / "notes" / "03_multi_head.html"
    built.parent.mkdir(parents=True)
    built.touch()
    assert page_of(asked_note("03"), "ko") == built
    assert page_of(asked_note("03"), "en") != built


def test_the_site_is_looked_for_where_it_is_built():
    assert pages.PACKAGE.parents[1] == ROOT
