"""Killing on purpose: `python -m tests.census.campaign` takes censuses while workers and drivers are killed.

Each must have the bytes of a plain loop. The suite does it twice; here it is done as often as one likes.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from clearhead.census import take
from clearhead.census.taking import Step

from . import small

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """\
import sys
from clearhead.census import take
model, corpus, out, address, shard, workers = sys.argv[1:]
take(model, corpus, out, shard=int(shard), workers=int(workers), address=address or None, resume=True)
"""


def workers() -> list[psutil.Process]:
    """The processes of Ray's in which a model is kept, of those that this one has started, and of nobody else's."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if any("MapWorker" in part for part in process.cmdline()):
                found.append(process)
    return sorted(found, key=lambda process: process.pid)


class Killer:
    """Told of each step, it kills a worker by SIGKILL: once there are `after` rows, and as often as `times` says."""

    def __init__(self, after: int, times: int = 1) -> None:
        self.after, self.times = after, times
        self.steps = 0
        self.pids: list[int] = []

    def __call__(self, step: Step) -> None:
        self.steps += bool(step.new_documents)
        if self.steps >= self.after and len(self.pids) < self.times and step.documents < step.of:
            for process in workers()[:1]:
                process.kill()
                self.pids.append(process.pid)


def killed_driver(model: Path, corpus: Path, out: Path, address: str, *, rows: int, workers: int = 1) -> int:
    """Start a census in a process of its own and kill that when there are some rows: how many there are then."""
    arguments = [str(model), str(corpus), str(out), address, str(small.SHARD), str(workers)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    driver = subprocess.Popen([sys.executable, "-c", SCRIPT, *arguments], env=environment)
    try:
        while driver.poll() is None and len(list((out / "shards").glob("*.parquet"))) < rows:
            time.sleep(0.02)
    finally:
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    return len(list((out / "shards").glob("*.parquet")))


def _heeds_sigint() -> None:
    """What a shell runs in the background ignores SIGINT, and so do those that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted_command(model: Path, corpus: Path, out: Path, *, rows: int) -> tuple[int, str]:
    """`clearhead census` in a group of its own, which gets SIGINT when there are some rows, as a terminal sends it."""
    arguments = ["--model", str(model), "--corpus", str(corpus), "-o", str(out), "--shard", str(small.SHARD)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "CLEARHEAD_LANG": "en"}
    command = [sys.executable, "-m", "clearhead", "census", *arguments]
    started = subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=_heeds_sigint
    )
    while started.poll() is None and len(list((out / "shards").glob("*.parquet"))) < rows:
        time.sleep(0.02)
    os.killpg(started.pid, signal.SIGINT)
    said = started.communicate()[1]
    return started.returncode, said


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder, small.ray_running() as address:
        here = Path(folder)
        model = small.model(here / "model")
        (here / "corpus").mkdir()
        corpus = small.corpus(here / "corpus", good=60)
        expected = small.contents(small.taken_plainly(model, [corpus], here / "plain"))
        status, said = interrupted_command(model, corpus, here / "stopped", rows=2)
        print(f"Ctrl-C: status {status}, {said.strip().splitlines()[-1:]}")
        if status != 130 or "--resume" not in said:
            return 1
        take(model, corpus, here / "stopped", shard=small.SHARD, resume=True)
        print(f"resumed, same bytes: {small.contents(here / 'stopped') == expected}")
        for number in range(options.rounds):
            out = here / "out"
            shutil.rmtree(out, ignore_errors=True)
            ends = [killed_driver(model, corpus, out, address, rows=rng.randint(1, 4), workers=rng.randint(1, 2))]
            if rng.random() < 0.5:
                ends.append(killed_driver(model, corpus, out, address, rows=ends[0] + rng.randint(1, 4)))
            killer = Killer(after=rng.randint(1, 4), times=rng.randint(1, 2))
            take(model, corpus, out, shard=small.SHARD, workers=rng.randint(1, 2), resume=True, tell=killer)
            same = small.contents(out) == expected
            print(f"{number}: drivers killed at {ends} rows, workers killed: {len(killer.pids)}, same bytes: {same}")
            if not same:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
