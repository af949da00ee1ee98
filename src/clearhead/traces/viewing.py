"""`clearhead view`: a trace from a file, in the browser."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from clearhead.languages import NotThereError, RefusedError, Said
from clearhead.traces import words
from clearhead.traces.scratch import ENDING
from clearhead.traces.words import VIEW as DESCRIPTION

MOST_NAMED = 3  # files of a folder

__all__ = ["DESCRIPTION", "add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = words.VIEW_EXAMPLES(program=parser.prog)
    said = {name: text() for name, text in words.VIEW_OPTIONS.items()}
    parser.add_argument("file", type=Path, metavar="FILE", help=said["file"])
    parser.add_argument("--call", type=int, default=0, metavar="N", help=said["call"])
    parser.add_argument("--sequence", type=int, default=0, metavar="N", help=said["sequence"])
    parser.add_argument("--port", type=int, default=0, metavar="PORT", help=said["port"])
    parser.add_argument("--no-browser", action="store_true", help=said["no_browser"])


def run(options: argparse.Namespace) -> int:
    from clearhead.page import serve
    from clearhead.traces import load_trace
    from clearhead.traces.paging import page_of

    if not options.file.exists():
        raise NotThereError(words.NO_FILE.filled(path=options.file))
    if options.file.is_dir():
        raise RefusedError(_folder(options.file))
    trace = load_trace(options.file)
    trace = _chosen(trace.calls, options.call, words.NO_CALL)
    trace = _chosen(trace.sequences, options.sequence, words.NO_SEQUENCE)
    layers, named = page_of(trace, None, None, {})
    title = f"{named['title']} · {options.file.name}" if named["title"] else options.file.name
    serve(layers, title=title, port=options.port, browser=not options.no_browser)
    return 0


def _folder(path: Path) -> Said:
    """What to do instead, where a folder was given."""
    own = path.resolve()
    if own.name.endswith(ENDING):  # .NAME.XXXX.unfinished, beside the file that it was to become
        target = own.with_name(own.name.removeprefix(".").removesuffix(ENDING).rpartition(".")[0])
        return words.UNFINISHED.filled(path=path, target=target.name)
    found = sorted(path.glob("*.safetensors"))
    if not found:
        return words.EMPTY_FOLDER.filled(path=path)
    names = [str(name) for name in found[:MOST_NAMED]] + (["…"] if len(found) > MOST_NAMED else [])
    return words.IS_FOLDER.filled(path=path, found=", ".join(names))


def _chosen(parts: list[Any], number: int, refusal: Said) -> Any:
    if not 0 <= number < len(parts):
        raise RefusedError(refusal.filled(number=number, count=len(parts), last=len(parts) - 1))
    return parts[number]
