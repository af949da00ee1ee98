"""Draw the figures of the gallery: all, or those named."""

from __future__ import annotations

import argparse
from pathlib import Path

from clearhead.languages import LANGUAGES, spoken
from docs.gallery import SCRIPTS, write


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.gallery", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(SCRIPTS)}; all unless given")
    parser.add_argument("--out", type=Path, default=Path("build/gallery"), metavar="DIR", help="default: build/gallery")
    parser.add_argument("--language", choices=LANGUAGES, default=spoken(), help="that of the words in the figures")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in SCRIPTS]:
        parser.error(f"no figure is named {' or '.join(unknown)}; there are {', '.join(SCRIPTS)}")
    for path in write(options.out, options.language, options.names or None):
        print(path)


if __name__ == "__main__":
    main()
