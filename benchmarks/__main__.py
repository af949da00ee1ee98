"""The command: `python -m benchmarks`, or `make bench`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
EXAMPLES = """\
examples:
  make bench                                   everything, half an hour
  make bench ARGS="--only dense --quick"       a first impression of one group
  python -m benchmarks --only 'causal n=*1024' --only decode
  python -m benchmarks --missed                the goals that the last run missed
"""


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure clearhead.attention beside torch and others on the same arrays. Prints a table and writes "
        "bench.json and bench.png. Ctrl-C stops, and what was measured until then is kept.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument(
        "--only", action="append", default=[], metavar="PATTERN",
        help="only the group of that name, or cases whose name contains it; * and ? stand for other characters; "
        "can be given several times",
    )  # fmt: skip
    p.add_argument("--list", action="store_true", help="list the cases with their goals, and measure nothing")
    p.add_argument(
        "--missed", action="store_true", help="print the goals that the last run missed, and measure nothing"
    )
    p.add_argument("--quick", action="store_true", help="few rounds: to see that it works, not to quote")
    p.add_argument("--threads", type=positive, metavar="N", help="threads for every library (default: all cores)")
    p.add_argument(
        "--out", type=Path, default=RESULTS, metavar="DIR",
        help="where to write (default: benchmarks/results)",
    )  # fmt: skip
    return p


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")
    return int(text)


def limit_blas(threads: int) -> None:
    """NumPy's matrix products read this once, when NumPy is loaded."""
    if "numpy" not in sys.modules:
        for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ[name] = str(threads)


def main(arguments: Sequence[str] | None = None, size: float = 1.0) -> int:
    """Run the command. A `size` below 1 makes every case that much smaller, to try the command itself."""
    p = parser()
    options = p.parse_args(arguments)
    from benchmarks import machine

    threads = options.threads or machine.cores()
    limit_blas(threads)
    from benchmarks import run

    cases = run.select(options.only)
    if not cases:
        p.error(f"no case matches {' or '.join(options.only)}; the groups are {', '.join(run.group_sizes())}")
    if options.list:
        run.show_cases(cases)
        return 0
    if options.missed:
        if not (options.out / run.RESULTS).exists():
            p.error(f"there is no {run.RESULTS} in {options.out}; python -m benchmarks measures and writes one")
        run.show_missed(cases, options.out)
        return 0
    return run.run(cases, threads=threads, quick=options.quick, out=options.out, size=size)


if __name__ == "__main__":
    sys.exit(main())
