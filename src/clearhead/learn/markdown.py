"""Notes as HTML: Markdown, mathematics as MathML, code in colours, pictures inside the page."""

from __future__ import annotations

import base64
import re
from pathlib import Path

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

TYPES = {".svg": "image/svg+xml", ".png": "image/png"}
FENCE = "$$"
INLINE = re.compile(r"\$(?!\s)([^$\n]+?)(?<!\s)\$(?!\d)")

CLOSING = re.compile(r"(?<=[)\]'\".])\*\*(?=[가-힣])")
JOINER = "\u2060"  # has no width and is no punctuation


def with_particles(text: str) -> str:
    """Markdown in which bold may end in a bracket before a particle, as in **키(key)**는.

    CommonMark takes such asterisks for plain ones, as in languages that put a space there.
    """
    return CLOSING.sub(f"{JOINER}**", text)


def to_html(text: str, here: Path) -> str:
    """A note as the inside of an HTML page. Pictures are looked up from the folder `here` and put into the page.

    Links to other notes lead to pages beside this one.
    """
    parser = MarkdownIt("commonmark", {"html": True, "highlight": _coloured}).enable("table")
    parser.inline.ruler.before("escape", "mathematics", _inline_mathematics)
    parser.block.ruler.before(
        "fence", "mathematics", _block_mathematics, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    tokens = parser.parse(with_particles(text))
    for token in _all(tokens):
        if token.type == "image":
            token.attrSet("src", inside(here / str(token.attrGet("src"))))
        elif token.type == "link_open":
            token.attrSet("href", re.sub(r"^(?!https?:)([^#]+)\.md(?=#|$)", r"\1.html", str(token.attrGet("href"))))
    return parser.renderer.render(tokens, parser.options, {})


def inside(picture: Path) -> str:
    """A picture as a link that contains it."""
    return f"data:{TYPES[picture.suffix]};base64,{base64.b64encode(picture.read_bytes()).decode()}"


def code_style() -> str:
    """The colours of code, on light and on dark screens."""
    light, dark = (HtmlFormatter(style=name).get_style_defs("pre code") for name in ("default", "github-dark"))
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}"


def _coloured(code: str, language: str, _: str) -> str:
    """Python in colours; other blocks are left to the parser."""
    return highlight(code, PythonLexer(), HtmlFormatter(nowrap=True)) if language == "python" else ""


def _all(tokens: list[Token]) -> list[Token]:
    return [each for token in tokens for each in (token, *(token.children or ()))]


def _inline_mathematics(state: StateInline, silent: bool) -> bool:
    """$…$ within a line."""
    match = INLINE.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        state.push("html_inline", "", 0).content = convert(match[1])
    state.pos = match.end()
    return True


def _block_mathematics(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Lines between two of $$."""
    if _line(state, first) != FENCE:
        return False
    closing = next((number for number in range(first + 1, last) if _line(state, number) == FENCE), None)
    if closing is None:
        return False
    if not silent:
        formula = state.getLines(first + 1, closing, state.tShift[first], keepLastLF=False)
        state.push("html_block", "", 0).content = f'<div class="formula">{convert(formula, display="block")}</div>\n'
    state.line = closing + 1
    return True


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] : state.eMarks[number]].strip()
