"""The pages of the reference: which public name stands on which, and the directives that Sphinx reads its docstring by.

Names are found, not listed: those of `clearhead` by the room that defines them, those of a public module by what it
offers. A name that is public is on one of these pages, or `pages` raises.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import re
import sys
from types import ModuleType
from typing import NamedTuple

import clearhead
from docs.site import words

PAGES = {  # the rooms whose names of `clearhead` it has, and the public modules of which it has the rest
    "attention": (("dispatch", "call", "kernels"), ()),
    "masks": ((), ("clearhead.masks",)),
    "biases": ((), ("clearhead.biases",)),
    "views": (("views",), ("clearhead.views",)),
    "traces": (("traces",), ("clearhead.traces",)),
    "figures": (("figures",), ()),
    "textbook": (("textbook",), ("clearhead.patterns",)),
    "translate": (("translate",), ()),
    "practice": ((), ("clearhead.practice",)),
    "torch": ((), ("clearhead.torch", "clearhead.torch.biases", "clearhead.torch.parallel")),
}


class Name(NamedTuple):
    """A public name: how it is reached, the module that defines it, and what it is."""

    path: str
    home: str
    value: object

    @property
    def directive(self) -> str:
        if inspect.isclass(self.value):
            return f".. autoclass:: {self.path}\n   :members:"
        return f".. {'autofunction' if inspect.isroutine(self.value) else 'autodata'}:: {self.path}"


def offered(module: ModuleType, path: str) -> list[Name]:
    """What a module offers, in the order of the modules it comes from; other modules are left out."""
    public = getattr(module, "__all__", None) or [name for name in vars(module) if is_own(module, name)]
    values = {name: getattr(module, name) for name in public if not name.startswith("__")}
    return [
        Name(f"{path}.{name}", home(name, value), value)
        for name, value in values.items()
        if not inspect.ismodule(value)
    ]


def is_own(module: ModuleType, name: str) -> bool:
    """Whether a module that has no __all__ defines a name itself, for others to use."""
    return not name.startswith("_") and getattr(getattr(module, name), "__module__", None) == module.__name__


def home(name: str, value: object) -> str:
    """The module that defines it. A plain value does not know, so the modules are searched for the line that does."""
    if known := getattr(value, "__module__", None):
        return known
    line = re.compile(rf"^{name}\b[^=\n]*= ", re.MULTILINE)
    modules = [module for path, module in sorted(sys.modules.items()) if path.startswith("clearhead.")]
    holding = [module for module in modules if vars(module).get(name) is value]
    return next(module.__name__ for module in holding if line.search(inspect.getsource(module)))


def module_at(path: str) -> ModuleType:
    """A public module, which may be offered under another name than its own."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        parent, _, name = path.rpartition(".")
        return getattr(importlib.import_module(parent), name)


def names() -> dict[str, list[Name]]:
    """The names of every page.

    Raises:
        ValueError: a public name of clearhead is on no page.
    """
    top = offered(clearhead, "clearhead")
    pages: dict[str, list[Name]] = {}
    for page, (rooms, modules) in PAGES.items():
        here = [name for name in top if room(name) in rooms]
        known = {id(name.value) for name in here}
        more = itertools.chain.from_iterable(offered(module_at(path), path) for path in modules)
        pages[page] = [*here, *(name for name in more if id(name.value) not in known)]
    placed = {name.path for page in pages.values() for name in page}
    if lost := [name.path for name in top if name.path not in placed]:
        raise ValueError(f"{', '.join(lost)} would be on no page of the reference; add the room to PAGES")
    return pages


def room(name: Name) -> str:
    """The room that defines a name of `clearhead`."""
    return name.home.split(".")[1]


def page(name: str, found: list[Name], language: str) -> str:
    """A page in MyST Markdown: its names under the module they come from."""
    title, sentence = words.REFERENCE_PAGES[name]
    made = [f"# {title(language)}", "", sentence(language), ""]
    for module, group in by_module(found):
        about = first_paragraph(importlib.import_module(module))
        made += [f"## {module}", "", about, "", "```{eval-rst}", ".. currentmodule:: clearhead", ""]
        made += ["\n\n".join(name.directive for name in group), "```", ""]
    return "\n".join(made)


def by_module(found: list[Name]) -> list[tuple[str, list[Name]]]:
    """The names of each module that defines some: first what can be called, and of that what `clearhead` itself has."""
    modules: dict[str, list[Name]] = {}
    for name in sorted(found, key=lambda name: name.home):
        modules.setdefault(name.home, []).append(name)

    def rank(item: tuple[str, list[Name]]) -> tuple[bool, bool]:
        _, group = item
        called = any(inspect.isroutine(name.value) for name in group)
        return not called, all(name.path.count(".") > 1 for name in group)

    return sorted(modules.items(), key=rank)


def first_paragraph(module: ModuleType) -> str:
    return " ".join((inspect.getdoc(module) or "").partition("\n\n")[0].split())


def pages(language: str) -> dict[str, str]:
    """Every page of the reference by the name of its file, the first of which leads to the others."""
    found = names()
    made = {f"{name}.md": page(name, found[name], language) for name in PAGES}
    listed = "\n".join(["```{toctree}", ":maxdepth: 3", "", *PAGES, "```"])
    first = f"# {words.REFERENCE(language)}\n\n{words.REFERENCE_IS(language)}\n\n{listed}\n"
    return {"index.md": first, **made}
