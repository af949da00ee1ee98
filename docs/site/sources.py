"""Which file of the repository becomes which page of the site, and the links between them.

The site's own pages are in docs/en and docs/ko; the notes, the notebooks and the page about the architecture are read
where they lie. All are gathered in one folder for each language, with links that lead from file to file in the
repository turned into links from page to page.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import shutil
from pathlib import Path, PurePosixPath

from clearhead.languages import LANGUAGES
from docs import gallery
from docs.site import reference

ROOT = Path(__file__).parents[2]
CONTENTS = "study_notes/README.md"
STANDS_FOR = {"README.md": "index.md", "README.ko.md": "index.md", CONTENTS: "notes/index.md"}
FIGURES = ROOT / "study_notes" / "figures"
PICTURES = (".svg", ".png")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
PATTERN = re.compile(r"^[\w/]*\*$\n", re.MULTILINE)  # a line of a list of pages that stands for several
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def places(language: str) -> dict[Path, str]:
    """The files of the repository that are pages of the site in a language, and where on the site they stand."""
    own = ROOT / "docs" / language
    notes = sorted((ROOT / "study_notes" / language).glob("*.md"))
    notebooks = sorted((ROOT / "notebooks").glob(f"*.{language}.ipynb"))
    return {
        **{path: path.relative_to(own).as_posix() for path in sorted(own.rglob("*.md"))},
        **{path: f"notes/{path.name}" for path in notes},
        **{path: f"notebooks/{path.name.removesuffix(f'.{language}.ipynb')}.ipynb" for path in notebooks},
        ROOT / "study_notes" / "glossary.md": "notes/glossary.md",
        ROOT / "docs" / "architecture.md": "architecture.md",
    }


def check_languages() -> None:
    """Both languages must have the same pages, as every page has a link to the same one in the other language.

    Raises:
        ValueError: a page is there in one language alone.
    """
    first, second = (set(places(language).values()) for language in LANGUAGES)
    if lonely := sorted(first ^ second):
        raise ValueError(
            f"{', '.join(lonely)} would be a page in one language alone; write it in docs/en and docs/ko, "
            "under the same name"
        )


def relinked(text: str, path: Path, place: str, pages: dict[Path, str]) -> str:
    """A document at `path` with its links as they are on the site at `place`.

    One that leads to nothing on the site becomes plain text, and one to a picture beside the document stays as it is.
    """

    def link(match: re.Match[str]) -> str:
        label, target = match[1], match[2]
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        file, _, anchor = target.partition("#")
        found = Path(os.path.normpath(path.parent / file))
        there = pages.get(found) or STANDS_FOR.get(relative(found))
        if found.parent == FIGURES:
            there = f"figures/{found.name}"
        if there is None:
            return match[0] if found.suffix in PICTURES else label
        href = posixpath.relpath(there, posixpath.dirname(place) or ".")
        return f"[{label}]({href}{'#' + anchor if anchor else ''})"

    made, after = [], 0
    for fence in FENCE.finditer(text):
        made += [LINK.sub(link, text[after : fence.start()]), fence[0]]
        after = fence.end()
    return "".join([*made, LINK.sub(link, text[after:])])


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)


def without_footer(text: str) -> str:
    """A note without the line that leads to its neighbours, which the site shows on every page by itself."""
    body, _, last = text.rstrip("\n").rpartition("\n")
    return f"{body}\n" if f"](../{CONTENTS.rpartition('/')[2]})" in last else text


def without_empty_patterns(text: str, place: str, pages: dict[Path, str]) -> str:
    """A page whose lists of pages have no pattern that no page fits, of which Sphinx would warn."""
    folder = PurePosixPath(place).parent
    others = [PurePosixPath(other) for other in pages.values() if other != place]

    def kept(match: re.Match[str]) -> str:
        pattern = folder / match[0].strip()
        fits = (other.parent == pattern.parent and other.match(pattern.name) for other in others)
        return match[0] if any(fits) else ""

    return FENCE.sub(lambda fence: PATTERN.sub(kept, fence[0]), text)


def page(path: Path, place: str, pages: dict[Path, str]) -> str:
    """What a file says on the site."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return without_empty_patterns(relinked(without_footer(text), path, place, pages), place, pages)
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = relinked("".join(cell["source"]), path, place, pages)
    return json.dumps(notebook, ensure_ascii=False)


def gather(language: str, folder: Path) -> None:
    """Write everything that Sphinx reads for a language into a folder."""
    pages = places(language)
    for path, place in pages.items():
        put(folder / place, page(path, place, pages))
    for name, text in reference.pages(language).items():
        put(folder / "reference" / name, text)
    shutil.copytree(FIGURES, folder / "figures")
    shutil.copytree(ROOT / "docs" / language, folder, ignore=shutil.ignore_patterns("*.md"), dirs_exist_ok=True)
    gallery.write(folder / "gallery", language)
    for script in gallery.SCRIPTS.values():
        shutil.copy(script, folder / "gallery")


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
