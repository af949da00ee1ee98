"""Running a piece of Python in a process of its own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]

# What every script begins with: arrays to attend with, and whether attention to them is right.
PRELUDE = """
import os, sys, threading, time
import numpy as np
from clearhead.dispatch import attention
from clearhead.masks import causal, window
from clearhead.textbook.attention import scaled_dot_product_attention as textbook

def arrays(*shape, seed=0, d=32):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((*shape, d), np.float32) for _ in range(3)]

def right(q, k, v, output=None):
    output = attention(q, k, v, mask=causal()) if output is None else output
    expected = textbook(q, k, v, causal().array(q.shape[-2], k.shape[-2]))[0]
    return bool(np.abs(output - expected).max() < 1e-5)
"""


@contextlib.contextmanager
def started(*pieces: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A process that runs the prelude and then the pieces; it is gone when the block ends.

    What our own environment says about numba and clearhead is not handed on.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "CLEARHEAD_"))}
    process = subprocess.Popen(
        [sys.executable, "-c", "\n".join(textwrap.dedent(piece) for piece in (PRELUDE, *pieces))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=inherited | environment,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def finish(process: subprocess.Popen[str], timeout: float) -> str:
    """What the process printed; fails with all it said if it did not end well, or in time."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"not done after {timeout} s; it printed\n{out}\n{err}") from None
    assert process.returncode == 0, f"exit code {process.returncode}; it printed\n{out}\n{err}"
    return out.strip()


def run(*pieces: str, timeout: float = 120, **environment: str) -> str:
    """What the pieces print in a process of their own."""
    with started(*pieces, **environment) as process:
        return finish(process, timeout)
