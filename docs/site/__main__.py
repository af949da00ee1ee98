"""Build the site in both languages, offline: open html/index.html in the folder it is written to."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

from clearhead.languages import LANGUAGES
from docs.site import live, sources, translations

HERE = Path(__file__).parent


def build(out: Path) -> int:
    """Write the site to out/html, from nothing. → 0, or the number that Sphinx ended with."""
    sources.check_languages()
    for made in ("source", "locale", "doctrees", "html"):
        shutil.rmtree(out / made, ignore_errors=True)
    translations.write(out / "locale")
    for language in LANGUAGES:
        source = out / "source" / language
        sources.gather(language, source)
        folders = [str(source), str(out / "html" / language)]
        settings = ["-D", f"language={language}", "-D", f"locale_dirs={(out / 'locale').resolve()}"]
        doctrees = str(out / "doctrees" / language)
        if failed := build_main(["-q", "-W", "-b", "html", "-c", str(HERE), "-d", doctrees, *settings, *folders]):
            return failed
        live.write(out / "html" / language / live.FOLDER, language)
    shutil.copy(HERE / "root.html", out / "html" / "index.html")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m docs.site", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/docs"), metavar="DIR", help="default: build/docs")
    options = parser.parse_args()
    failed = build(options.out)
    if not failed:
        print(options.out / "html" / "index.html")
    return failed


if __name__ == "__main__":
    sys.exit(main())
