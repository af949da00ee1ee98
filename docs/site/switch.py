"""From every page to the same page in the other language: both have the same pages, so the way is always the same."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from clearhead.languages import LANGUAGES
from docs.site import words


def offer_other(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Tell the page's template where the other language is, and browsers and readers' programs too."""
    (other,) = (language for language in LANGUAGES if language != app.config.language)
    root = context["content_root"]
    context["other_language"] = {
        "code": other,
        "name": words.NAME(other),
        "link": f"{root}../{other}/{pagename}.html",
        "label": words.SWITCH(other),
    }
    context["metatags"] = context.get("metatags", "") + "".join(
        f'<link rel="alternate" hreflang="{language}" href="{root}../{language}/{pagename}.html">\n'
        for language in LANGUAGES
    )


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("html-page-context", offer_other)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
