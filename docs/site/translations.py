"""The words of the theme and of the search in Korean, where Sphinx looks for them.

Sphinx brings its own catalogue, which has no Korean for what furo says, and an empty text for how much a search found.
"""

from __future__ import annotations

import json
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from docs.site import words


def write(folder: Path) -> None:
    """Write both catalogues, that of the templates and that of the search's script, into a folder of locales."""
    there = folder / "ko" / "LC_MESSAGES"
    there.mkdir(parents=True)
    catalog = Catalog(locale="ko", domain="sphinx")
    for english, korean in words.THEME.items():
        catalog.add(english, korean)
    with (there / "sphinx.mo").open("wb") as file:
        write_mo(file, catalog)
    of_script = {"locale": "ko", "messages": words.SEARCH, "plural_expr": "0"}
    script = f"Documentation.addTranslations({json.dumps(of_script, ensure_ascii=False, indent=1)});\n"
    (there / "sphinx.js").write_text(script, encoding="utf-8")
