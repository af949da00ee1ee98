"""Formulas become MathML while the site is built: browsers show that by themselves, without a script or a network."""

from __future__ import annotations

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata
from sphinx.writers.html5 import HTML5Translator

log = logging.getLogger(__name__)


def mathml(latex: str, *, block: bool) -> str:
    """A formula as MathML.

    Raises:
        ValueError: it has a command that is not known, which would be shown as it is spelled.
    """
    made = convert(latex, display="block" if block else "inline")
    if unknown := re.findall(r"\\[A-Za-z]+", made):
        raise ValueError(
            f"the formula {latex!r} has {', '.join(unknown)}, which MathML has no word for; write it another way"
        )
    return made


def append(writer: HTML5Translator, node: nodes.Element, *, block: bool) -> None:
    """Write the formula of a node, or warn of it where it stands."""
    try:
        writer.body.append(mathml(node.astext(), block=block))
    except ValueError as error:
        log.warning(str(error), location=node, type="mathml")


def visit_math(writer: HTML5Translator, node: nodes.math) -> None:
    append(writer, node, block=False)
    raise nodes.SkipNode


def visit_math_block(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(writer.starttag(node, "div", CLASS="formula"))
    append(writer, node, block=True)
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_html_math_renderer("mathml", inline_renderers=(visit_math, None), block_renderers=(visit_math_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
