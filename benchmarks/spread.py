"""One long sequence over 1, 2 and 4 processes: time, bytes and memory of each rank, printed as a table.

    python -m benchmarks.spread --positions 65536 --window 256

Each number of processes is started anew, by torch's own launcher. On a machine with fewer cores than processes, time
says little; bytes and the memory of a rank are what counts. Memory is the most that a rank held, less what it held
before it had its queries, keys and values.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PROCESSES = (1, 2, 4)
COLUMNS = (
    "processes", "forward s", "and backward s", "look s", "MB forward", "MB backward", "balance", "q, k, v MiB",
    "attention MiB", "look MiB",
)  # fmt: skip


def work(positions: int, window: int, heads: int, width: int, rounds: int) -> None:
    """What one rank does; the first prints a line."""
    import torch
    import torch.distributed as dist

    from clearhead import masks
    from clearhead.torch import parallel

    dist.init_process_group("gloo")
    mask: Any = masks.window(window) if window else masks.causal()
    layout = "contiguous" if window else "zigzag"
    options: dict[str, Any] = {"layout": layout}
    small = [torch.randn(heads, 64, width).requires_grad_() for _ in range(3)]
    parallel.attention(*small, mask, **options).sum().backward()  # what is loaded on the first call is not measured
    parallel.look(*small, mask, **options)
    before = _most()
    torch.manual_seed(dist.get_rank())
    rows = len(parallel.positions(positions, layout=layout))
    q, k, v = (torch.randn(heads, rows, width).requires_grad_() for _ in range(3))
    told = parallel.explain(q, k, v, mask, **options)
    forward, both, looked = [], [], []
    for _ in range(rounds):
        dist.barrier()
        start = time.perf_counter()
        output = parallel.attention(q, k, v, mask, **options)
        forward.append(time.perf_counter() - start)
        output.sum().backward()
        both.append(time.perf_counter() - start)
    attended = _most() - before
    for _ in range(rounds):
        dist.barrier()
        start = time.perf_counter()
        parallel.look(q, k, v, mask, **options)
        looked.append(time.perf_counter() - start)
    peaks = torch.tensor([attended, _most() - before])
    dist.all_reduce(peaks, dist.ReduceOp.MAX)
    if dist.get_rank() == 0:
        inputs = 3 * heads * rows * width * 4 / 2**20
        numbers = [
            f"{dist.get_world_size()}", f"{min(forward):.2f}", f"{min(both):.2f}", f"{min(looked):.2f}",
            f"{told.sent.sum() / 1e6:.1f}", f"{told.returned.sum() / 1e6:.1f}", f"{told.balance:.3f}", f"{inputs:.0f}",
            *(f"{peak / 1024:.0f}" for peak in peaks.tolist()),
        ]  # fmt: skip
        print(_line(numbers), flush=True)
    dist.destroy_process_group()


def _most() -> int:
    """The most memory that this process has held, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _line(cells: Any) -> str:
    return "  ".join(cell.rjust(len(name)) for cell, name in zip(cells, COLUMNS, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.spread", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--positions", type=int, default=65536)
    parser.add_argument("--window", type=int, default=256, help="keys that a query sees; 0 for all before it, zigzag")
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3, help="of which the fastest counts")
    options = vars(parser.parse_args())
    if "RANK" in os.environ:
        work(**options)
        return
    print(_line(COLUMNS), flush=True)
    asked = [f"--{name}={value}" for name, value in options.items()]
    for count in PROCESSES:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)]
        subprocess.run([*launcher, "-m", "benchmarks.spread", *asked], check=True, cwd=Path(__file__).parents[1])


if __name__ == "__main__":
    main()
