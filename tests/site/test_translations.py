"""The theme's words in Korean."""

from __future__ import annotations

import gettext
import json

from docs.site import translations, words


def test_sphinx_finds_them_where_it_looks(tmp_path):
    translations.write(tmp_path)
    found = gettext.translation("sphinx", tmp_path, ["ko"])
    assert {english: found.gettext(english) for english in words.THEME} == words.THEME


def test_the_search_is_given_its_own(tmp_path):
    translations.write(tmp_path)
    script = (tmp_path / "ko" / "LC_MESSAGES" / "sphinx.js").read_text(encoding="utf-8")
    given = json.loads(script.removeprefix("Documentation.addTranslations(").removesuffix(");\n"))
    assert given["messages"] == words.SEARCH
