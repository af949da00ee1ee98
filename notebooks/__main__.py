"""`python -m notebooks`, or `make notebook`: run the tutorial in both languages and write it with what it shows.

`python -m notebooks ko` makes one of them.
"""

from __future__ import annotations

import sys

import nbformat

from clearhead.files import write_whole
from clearhead.languages import LANGUAGES
from notebooks.making import execute, target, unexecuted


def main(languages: list[str]) -> int:
    unknown = sorted(set(languages) - set(LANGUAGES))
    if unknown:
        print(f"there is no notebook in {', '.join(unknown)}; choose from {', '.join(LANGUAGES)}", file=sys.stderr)
        return 2
    for language in languages or LANGUAGES:
        notebook = execute(unexecuted(language))
        write_whole(target(language), (nbformat.writes(notebook) + "\n").encode())
        print(target(language))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
