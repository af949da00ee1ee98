"""The front end's modules as one script, so that a page is one file: nothing is built, minified or fetched.

Each module becomes a function that is called once and returns what the module exports. Only comments and
indents are left out, a quarter of the text, which readers find in web/. That asks little of a module:
its imports are `import { a, b as c } from "./other.js";`, its exports stand before what they name, and no two modules
import each other.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

WEB = Path(__file__).parent / "web"
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";$', re.MULTILINE)
COMMENT = re.compile(  # a line of its own, some lines of their own, or a type within a line
    r"^[ \t]*//[^\n]*\n|^[ \t]*/\*\*(?:(?!\*/).)*\*/[ \t]*\n|/\*\*(?:(?!\*/).)*\*/ ?", re.MULTILINE | re.DOTALL
)
INDENT = re.compile(r"^\s+", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const|let) (\w+))", re.MULTILINE)


@functools.cache
def script(entry: str = "main.js") -> str:
    """All modules that one needs, in the order in which they need each other, and the call that starts the page."""
    order: list[str] = []
    _visit(entry, order, ())
    return "\n".join(['"use strict";', "const modules = {};", *(_wrapped(name) for name in order)]) + "\n"


@functools.cache
def style(entry: str = "main.js") -> str:
    """The sheet of all pages, and after it that of a page with another entry."""
    own = [] if entry == "main.js" else [entry.replace(".js", ".css")]
    return "".join((WEB / name).read_text(encoding="utf-8") for name in ("page.css", *own))


def _visit(name: str, order: list[str], above: tuple[str, ...]) -> None:
    """A module after those that it imports."""
    if name in above:
        raise ValueError(f"modules import each other in a circle: {' → '.join((*above, name))}")
    if name in order:
        return
    for _, imported in IMPORT.findall(_source(name)):
        _visit(imported, order, (*above, name))
    order.append(name)


def _wrapped(name: str) -> str:
    source = _source(name)
    source = COMMENT.sub("", source)
    if any(line.count("`") % 2 for line in source.splitlines()):
        raise ValueError(f"{name} has a text of several lines, whose indents would be left out")
    body = IMPORT.sub(lambda found: f'const {{{found[1].replace(" as ", ": ")}}} = modules["{found[2]}"];', source)
    names = EXPORT.findall(body)
    body = EXPORT.sub("", body)
    left = re.search(r"^(import|export)\b.*$", body, re.MULTILINE)
    if left:
        raise ValueError(f"{name} has a line that one script cannot hold: {left[0]}")
    if "</script" in body.lower() or "<!--" in body:
        raise ValueError(f"{name} has a text that would end its script early")
    return f'modules["{name}"] = (() => {{\n{INDENT.sub("", body)}\nreturn {{ {", ".join(names)} }};\n}})();'


def _source(name: str) -> str:
    return (WEB / name).read_text(encoding="utf-8")
