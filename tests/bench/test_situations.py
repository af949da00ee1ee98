"""A product comes before each call and is no part of it; a busy machine is busy, and no longer than that."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest
import torch
from benchmarks import machine, measure, situations
from tests.bench.examples import MINIMAL, SIZE, THREADS, named


def spinning() -> list[int]:
    """The processes of busy() that there are, as far as they can be told apart: children of this one."""
    found = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(os.getpid())], capture_output=True, text=True)
    return [int(line.split()[0]) for line in found.stdout.splitlines() if "os.getppid()" in line]


@pytest.mark.parametrize("error", [None, KeyboardInterrupt, ValueError], ids=["end", "Ctrl-C", "error"])
def test_a_busy_machine_has_a_process_for_each_core(error):
    try:
        with situations.busy():
            started = spinning()
            assert len(started) == machine.cores()
            if error is not None:
                raise error
    except (KeyboardInterrupt, ValueError):
        assert error is not None
    assert not spinning()


def test_nothing_spins_on_when_the_benchmark_is_killed():
    code = (
        "import os, signal\nfrom benchmarks import situations\n"
        "with situations.busy():\n    print(flush=True)\n    os.kill(os.getpid(), signal.SIGKILL)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        # Whoever spins holds the other end of the pipe: it closes when the last of them is gone.
        began = time.monotonic()
        process.stdout.read()
    assert time.monotonic() - began < 60


def test_the_product_is_the_one_before_attention():
    work = named("after product n=300").build(SIZE, THREADS)
    _, h, n, d = work.problem.q.shape
    assert {call.before().shape for call in work.calls.values()} == {(n, h * d)}
    assert {name: type(call.run()) for name, call in work.calls.items()} == dict.fromkeys(work.calls, torch.Tensor)
    assert named("busy n=300").build(SIZE, THREADS).calls[measure.OURS].before() is None


def test_a_busy_row_is_measured_while_it_is_busy(monkeypatch):
    seen: list[int] = []
    timed = measure.timings
    monkeypatch.setattr(measure, "timings", lambda *x, **how: seen.append(len(spinning())) or timed(*x, **how))
    row = named("busy after product n=128").measure(MINIMAL, 1, SIZE)
    assert seen == [machine.cores()]
    assert row.peers.keys() == {"clearhead", "torch"}
    assert not spinning()
