"""Cases a fraction of their size, and rows made up."""

from __future__ import annotations

from benchmarks import machine, table
from benchmarks.cases import AccuracyCase, Case
from benchmarks.measure import Effort
from benchmarks.rows import SHARE, SPEED, Goal, Peer, Row, Value

SIZE = 1 / 61
THREADS = machine.cores()  # with fewer, not everyone takes part
MINIMAL = Effort(rounds=2, seconds=0.0, inputs=2)
TIMED = [case for case in table.CASES if isinstance(case, Case)]
EXACT = [case for case in table.CASES if isinstance(case, AccuracyCase)]


def named(name: str) -> table.AnyCase:
    return next(case for case in table.CASES if case.name == name)


def row(name: str = "a", group: str = "dense", goals: tuple[Goal, ...] = (), **values: float) -> Row:
    found = {key.replace("_", " "): Value(x, 0.9 * x, 1.1 * x) for key, x in values.items()}
    ours, theirs = Peer(Value(0.002, 0.001, 0.003), 3 * 2**20), Peer(Value(0.002, 0.001, 0.003), None)
    return Row(name, group, "SDPA", found, goals, {"clearhead": ours, "torch": theirs}, 7)


ROWS = [
    row("quick", goals=(Goal(SPEED, 1.2), Goal(SHARE, 0.8)), speed=1.5, share_of_sgemm=0.95),
    row("slow", goals=(Goal(SPEED, 1.2),), speed=0.5),
    row("aimless", "options", speed=3.0),
]
