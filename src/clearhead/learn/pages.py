"""The course as pages to read in a browser: those of the site where it was built, else pages of our own.

Ours are complete in themselves, with no script and no request. All notes are written, so that links from one to the
next work, in both languages.
"""

from __future__ import annotations

import html
from pathlib import Path

from clearhead.advice import PACKAGE
from clearhead.files import write_whole
from clearhead.languages import LANGUAGES, spoken
from clearhead.learn.markdown import code_style, to_html
from clearhead.learn.notes import Note, folder
from clearhead.learn.record import state_folder

SITE = PACKAGE.parents[1] / "build" / "docs" / "html"
STYLE = """
:root { color-scheme: light dark;
  --page: #fbfaf8; --ink: #1c1b22; --quiet: #66636f; --line: #e2dfe6; --accent: #7a2a6b; --code: #f2f0ee; }
@media (prefers-color-scheme: dark) {
  :root { --page: #17161b; --ink: #eceaf0; --quiet: #a5a1ae; --line: #35323c; --accent: #e59ad2; --code: #211f27; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); line-height: 1.7;
  font-family: system-ui, "Apple SD Gothic Neo", "Malgun Gothic", "Noto Sans KR", NanumGothic, sans-serif; }
html:lang(ko) body { word-break: keep-all; overflow-wrap: break-word; }
main { max-width: 50rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.8rem; line-height: 1.25; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .5rem; padding-top: 1.5rem; border-top: 1px solid var(--line); }
a { color: var(--accent); }
blockquote { margin: 1rem 0; padding: .1rem 1rem; border-left: .25rem solid var(--accent); }
code, pre { font-family: ui-monospace, Menlo, Consolas, D2Coding, NanumGothicCoding, monospace; font-size: .9em; }
code { background: var(--code); border-radius: .25rem; padding: .1em .3em; }
pre { background: var(--code); border-radius: .5rem; padding: .8rem 1rem; overflow-x: auto; line-height: 1.5; }
pre code { padding: 0; background: none; }
pre:has(code.language-text) { background: none; border: 1px solid var(--line); }
img { display: block; max-width: 100%; height: auto; margin: 1rem auto .5rem; padding: .5rem;
  background: #fff; border-radius: .5rem; }
table { display: block; overflow-x: auto; border-collapse: collapse; margin: 1rem 0; }
th, td { min-width: 3.5rem; padding: .35rem .8rem; border-bottom: 1px solid var(--line);
  text-align: left; vertical-align: top; }
.formula { overflow-x: auto; overflow-y: hidden; margin: 1rem 0; }
details { margin: .75rem 0; padding: .5rem 1rem; border: 1px solid var(--line); border-radius: .5rem; }
summary { cursor: pointer; }
"""


def page_of(note: Note, language: str | None = None) -> Path:
    """The page of a note: that of the built site if there is one, else one written now."""
    language = spoken(language)
    built = sorted((SITE / language).rglob(f"{note.name}.html"))
    return built[0] if built else write_course() / language / f"{note.name}.html"


def write_course() -> Path:
    """Write every note in every language, and the index and glossary, as pages; returns their folder."""
    source, target = folder(), state_folder() / "notes"
    style = code_style() + STYLE
    documents = [*source.glob("*.md"), *(path for code in LANGUAGES for path in (source / code).glob("*.md"))]
    for path in documents:
        page = target / path.relative_to(source).with_suffix(".html")
        page.parent.mkdir(parents=True, exist_ok=True)
        write_whole(page, whole_page(path, style).encode())
    return target


def whole_page(document: Path, style: str) -> str:
    """One Markdown document as a page of its own."""
    text = document.read_text(encoding="utf-8")
    language = document.parent.name if document.parent.name in LANGUAGES else spoken()
    title = next(line.removeprefix("# ") for line in text.splitlines() if line.startswith("# "))
    return f"""<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title>
<style>{style}</style>
</head>
<body>
<main>
{to_html(text, document.parent)}</main>
</body>
</html>
"""
