"""How long the first call of a process takes: where nothing has been compiled yet, and where it lies on the disk.

Both in processes of their own, with a cache of their own. What is timed is the call alone, after the import of
clearhead; what it loads is loaded in it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from benchmarks import measure
from benchmarks.measure import Effort, Tick
from benchmarks.rows import COLD, FROM_DISK, Goal, Row, spread

COLD_ROUNDS = 3
CODE = """
import time
import numpy as np
import clearhead
q, k, v = np.random.default_rng(0).standard_normal((3, 1, 8, 64, 64), np.float32)
began = time.perf_counter()
clearhead.attention(q, k, v)
print(time.perf_counter() - began)
"""


@dataclass(frozen=True)
class FirstCallCase:
    """A row of two values, in seconds."""

    name: str = "first call"
    group: str = "first"
    against: str = "nobody"
    goals: tuple[Goal, ...] = (Goal(COLD, 5, most=True), Goal(FROM_DISK, 0.3, most=True))
    needs: tuple[str, ...] = ()

    def measure(self, effort: Effort, threads: int, size: float = 1.0, tick: Tick = lambda share: None) -> Row:
        quick = effort.rounds <= measure.QUICK.rounds
        cold_rounds = 1 if quick else COLD_ROUNDS
        cold, from_disk = [], []
        for done in range(cold_rounds):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(first_call(cache))
                tick((done + 0.9) / cold_rounds)
                for _ in range(effort.rounds):
                    from_disk.append(first_call(cache))
            tick((done + 1) / cold_rounds)
        return Row(
            self.name, self.group, self.against, {COLD: spread(cold), FROM_DISK: spread(from_disk)}, self.goals,
            rounds=len(from_disk), figures={"cold rounds": cold_rounds},
        )  # fmt: skip


def first_call(cache: str) -> float:
    """Seconds, in a process of its own that compiles into this folder, or finds there what another one compiled."""
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    result = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"the process that measures the first call failed:\n{result.stderr}")
    return float(result.stdout)
