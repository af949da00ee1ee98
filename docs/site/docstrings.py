"""Our docstrings and signatures, as Sphinx reads them.

Docstrings are plain text with code in single backticks, a line or two of shapes after the first sentence, indented
examples, and parts such as `Raises:`. Sphinx reads reStructuredText, in which shapes would run together and an example
would be a quotation.
"""

from __future__ import annotations

import functools
import inspect
import re
from typing import Any, ForwardRef

from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, GoogleDocstring
from sphinx.util.typing import ExtensionMetadata

from docs.site import reference

NAME = re.compile(r"(?<![\w.'])[A-Z]\w+(?!\w*')")
SHAPED = re.compile(r"\b(Float|Int|Bool|Num|Shaped|Integer|UInt8)\[[\w.]+, ?(['\"])(.*?)\2\]")
CODE = re.compile(r"(`[^`\n]+`)")
PARTS = Config()  # napoleon's settings; it reads parts such as `Raises:`
ALIAS = "Alias for field number"  # what a NamedTuple says of its fields by itself


def paragraphs(lines: list[str]) -> list[list[str]]:
    """Runs of lines without an empty one."""
    found: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [lines for lines in found if lines]


def is_shapes(lines: list[str]) -> bool:
    """Whether a paragraph says what goes in and what comes out, one to a line."""
    return any("→" in line for line in lines) and re.match(r"\w+( \(|:)|→", lines[0]) is not None


def escaped(line: str) -> str:
    """A line whose stars, bars and backslashes are themselves, outside of code."""
    parts = CODE.split(line)
    return "".join(part if part.startswith("`") else re.sub(r"([*|\\])", r"\\\1", part) for part in parts)


def as_rest(lines: list[str]) -> list[str]:
    """A docstring of ours in reStructuredText."""
    made: list[str] = []
    for number, paragraph in enumerate(paragraphs(lines)):
        if made and all(line.startswith("    ") for line in paragraph) and not in_part(made):
            made += ["::", "", *paragraph, ""]
        elif number == 1 and is_shapes(paragraph):
            made += [*(f"| {escaped(line)}" for line in paragraph), ""]
        else:
            made += [*(paragraph if paragraph[0].startswith(">>>") else map(escaped, paragraph)), ""]
    return made


def in_part(lines: list[str]) -> bool:
    """Whether the last line belongs to a part such as `Raises:`, whose lines are indented too."""
    return lines[-2].startswith("    ") and any(re.fullmatch(r"(Args|Raises|Returns|Yields):", line) for line in lines)


def readable(annotation: object, known: dict[str, str]) -> str:
    """A type as it is written, but for where arrays lie: Float[np.ndarray, "... n d"] is Float['… n d'].

    `known` has the public path of names, so that they become links.
    """
    if isinstance(annotation, ForwardRef):
        annotation = annotation.__forward_arg__
    if not isinstance(annotation, str):
        annotation = inspect.formatannotation(annotation)
    shaped = SHAPED.sub(lambda match: f"{match[1]}['{match[3].strip().replace('...', '…')}']", annotation)
    return NAME.sub(lambda match: known.get(match[0], match[0]), shaped)


@functools.cache
def public_paths() -> dict[int, str]:
    """The path of every class of the reference, by its identity."""
    return {id(name.value): name.path for page in reference.names().values() for name in page}


def known_names(obj: Any) -> dict[str, str]:
    """The names in the module of a function or class that stand for something in the reference, with its path there."""
    paths = public_paths()
    return {name: paths[id(value)] for name, value in vars(inspect.getmodule(obj)).items() if id(value) in paths}


class Written(str):
    """An annotation that inspect writes without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def signature(obj: Any) -> tuple[str, str]:
    """The arguments of a function or class and what it returns, with readable types."""
    found, known = inspect.signature(obj), known_names(obj)

    def written(annotation: object) -> object:
        return annotation if annotation is found.empty else Written(readable(annotation, known))

    parameters = [
        parameter.replace(annotation=written(parameter.annotation))
        for parameter in found.parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    returned = "" if found.return_annotation is found.empty else readable(found.return_annotation, known)
    return str(found.replace(parameters=parameters, return_annotation=found.empty)), returned


def process_signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, arguments: str | None, returned: str | None
) -> tuple[str, str] | None:
    if what not in ("function", "method", "class") or (inspect.isclass(obj) and issubclass(obj, Exception)):
        return None
    made, gives = signature(obj)
    return made, "" if what == "class" else gives


def process_docstring(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Put a docstring as Sphinx reads it in its place; a plain value has only that of its type, which is left out."""
    lines[:] = [] if what == "data" else str(GoogleDocstring(as_rest(lines), PARTS, what="function")).splitlines()


def skip_member(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a NamedTuple says of its fields by itself."""
    return True if (inspect.getdoc(obj) or "").startswith(ALIAS) else None


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("autodoc-process-docstring", process_docstring)
    app.connect("autodoc-process-signature", process_signature)
    app.connect("autodoc-skip-member", skip_member)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
