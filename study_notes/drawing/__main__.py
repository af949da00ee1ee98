"""Draw the figures of the study notes: all, or those whose names begin with one of the words given."""

from __future__ import annotations

import argparse

from clearhead.languages import LANGUAGES
from study_notes.drawing import drawings


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m study_notes.drawing", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="such as 02, or 02_why_scale; all unless given")
    names = tuple(parser.parse_args().names)
    chosen = [drawing for name, drawing in drawings().items() if name.startswith(names or ("",))]
    if not chosen:
        parser.error(f"no figure begins with {' or '.join(names)}; there are {', '.join(drawings())}")
    for drawing in chosen:
        for language in LANGUAGES:
            print(drawing.write(language))


if __name__ == "__main__":
    main()
