"""`clearhead census`: a model, a corpus, and a folder with what every head does."""

from __future__ import annotations

import argparse
import functools
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from clearhead.census import words
from clearhead.census.causes import Cause
from clearhead.census.telling import Teller
from clearhead.census.terminal import answering
from clearhead.census.words import DESCRIPTION as DESCRIPTION
from clearhead.languages import RefusedError

MOST = 5  # documents of a reason that are named on the screen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = words.EXAMPLES(program=parser.prog)
    said = {name: text() for name, text in words.OPTIONS.items()}
    parser.add_argument("--model", required=True, type=Path, metavar="DIR", help=said["model"])
    parser.add_argument("--corpus", required=True, nargs="+", type=Path, metavar="PATH", help=said["corpus"])
    parser.add_argument("-o", "--out", required=True, type=Path, metavar="DIR", help=said["out"])
    parser.add_argument("--field", default="text", metavar="NAME", help=said["field"])
    parser.add_argument("--max-tokens", type=int, metavar="N", help=said["max_tokens"])
    parser.add_argument("--layers", nargs="+", metavar="LAYER", help=said["layers"])
    parser.add_argument("--shard", type=int, default=32, metavar="N", help=said["shard"])
    parser.add_argument("--workers", type=int, metavar="N", help=said["workers"])
    parser.add_argument("--threads", type=int, default=1, metavar="N", help=said["threads"])
    parser.add_argument("--address", metavar="URL", help=said["address"])
    parser.add_argument("--resume", action="store_true", help=said["resume"])
    parser.add_argument("--compare", type=Path, metavar="DIR", help=said["compare"])


def run(options: argparse.Namespace) -> int:
    from clearhead.census.result import load
    from clearhead.census.taking import take

    other = None if options.compare is None else load(options.compare)
    layers = None if options.layers is None else [int(x) if x.isdigit() else x for x in options.layers]
    start = time.perf_counter()
    teller = Teller(Console(stderr=True))
    stop = functools.partial(teller.stop, words.STOPPING())
    try:
        with teller, answering(stop):
            census = take(
                options.model, options.corpus, options.out, field=options.field, max_tokens=options.max_tokens,
                layers=layers, shard=options.shard, workers=options.workers, threads=options.threads,
                address=options.address, resume=options.resume, tell=teller,
            )  # fmt: skip
    except KeyboardInterrupt:
        stop()  # unless that has been said
        raise
    _told(census, options, time.perf_counter() - start)
    if not census.documents:
        raise RefusedError(words.NOTHING_READ)
    page = census.to_html(options.out / "index.html", other=other)
    print(words.WRITTEN(page=page))
    return 0


def _told(census: Any, options: argparse.Namespace, seconds: float) -> None:
    """What was counted, and what was not, by name."""
    layers = len(set(census.heads.column("layer").to_pylist()))
    numbers = {"documents": census.documents, "tokens": census.tokens, "layers": layers, "heads": len(census.heads)}
    told = {what: words.counted(what, count) for what, count in numbers.items()}
    print(words.RESULT.filled(**told, seconds=seconds)())
    if census.cut:
        cut, most = words.counted("documents", census.cut), words.counted("tokens", options.max_tokens)
        print(words.CUT(documents=cut, tokens=most))
    problems = census.problems.to_pylist()
    for reason, said in words.PROBLEMS.items():
        own = [problem for problem in problems if problem["reason"] == reason]
        if own:
            print(said(documents=words.counted("documents", len(own))))
        for problem in own[:MOST]:
            named = {"file": problem["file"], "document": problem["document"]}
            why = Cause(problem["cause"], problem["values"])
            print(words.PROBLEM_WHY(**named, why=why.said()) if why.name else words.PROBLEM(**named))
        if len(own) > MOST:
            print(words.MORE(count=len(own) - MOST))
