"""How each library is asked for the same attention.

Each function below turns a `Problem` into a call of one library that takes no arguments, or into None where that
library cannot do it. Whatever is done once per model and not once per call (masks written out, sessions opened, layouts
changed) is done here, outside of what is timed, and each library gets the form of a mask that it is fastest with.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

import clearhead as ch
from benchmarks.machine import cores
from benchmarks.problems import SEED, Call, Problem
from benchmarks.runtimes import with_onnxruntime, with_openvino

MOST_TEXTBOOK_SCORES = 2**23  # the textbook writes them out several times over


def calls(problem: Problem, threads: int) -> dict[str, Call]:
    """The problem for every library that is installed and can do it, clearhead first."""
    built = {name: build(problem, threads) for name, build in PEERS.items()}
    return {name: call for name, call in built.items() if call is not None}


def with_clearhead(problem: Problem, threads: int) -> Call:
    options: dict[str, Any] = {"mask": problem.mask, "bias": problem.bias}
    if problem.dropout:
        options |= {"dropout": problem.dropout, "seed": SEED}
    options = {name: x for name, x in options.items() if x is not None}
    q, k, v = problem.q, problem.k, problem.v
    return Call(lambda: ch.attention(q, k, v, **options))


def with_torch(problem: Problem, threads: int) -> Call:
    import torch

    attention = torch.nn.functional.scaled_dot_product_attention
    q, k, v = (tensor(x) for x in (problem.q, problem.k, problem.v))
    extra = problem.allowed if problem.allowed is not None else problem.addition
    options = {
        "attn_mask": None if extra is None else tensor(extra),
        "is_causal": problem.causal,
        "dropout_p": problem.dropout,
        "enable_gqa": problem.grouped,
    }
    return Call(lambda: attention(q, k, v, **options), lambda y: y.float().numpy(), random=problem.dropout > 0)


def with_textbook(problem: Problem, threads: int) -> Call | None:
    if problem.scores > MOST_TEXTBOOK_SCORES:
        return None
    q, k, v, options = problem.q, problem.k, problem.v, problem.for_textbook()
    return Call(lambda: ch.scaled_dot_product_attention(q, k, v, **options)[0])


def with_jax(problem: Problem, threads: int) -> Call | None:
    # It has no dropout, takes keys and values of one width only, and cannot be told to leave cores alone.
    if find_spec("jax") is None or problem.dropout or problem.q.shape[-1] != problem.v.shape[-1] or threads < cores():
        return None
    import jax

    def attend(q: Any, k: Any, v: Any, bias: Any, mask: Any) -> Any:
        return jax.nn.dot_product_attention(q, k, v, bias, mask, is_causal=problem.causal)

    compiled = jax.jit(attend)
    q, k, v = (jax.numpy.asarray(x.swapaxes(1, 2)) for x in (problem.q, problem.k, problem.v))  # it wants (b, n, h, d)
    bias, mask = (
        None if x is None else jax.numpy.asarray(x.reshape((1,) * (4 - x.ndim) + x.shape))
        for x in (problem.addition, problem.allowed)
    )
    return Call(
        lambda: compiled(q, k, v, bias, mask).block_until_ready(),
        lambda y: np.asarray(y).swapaxes(1, 2),
    )


PEERS: dict[str, Callable[[Problem, int], Call | None]] = {
    "clearhead": with_clearhead,
    "torch": with_torch,
    "onnxruntime": with_onnxruntime,
    "openvino": with_openvino,
    "jax": with_jax,
    "textbook": with_textbook,
}


def sgemm(n: int = 2048) -> Call:
    """A plain matrix product by torch, the rate of which is the yardstick for dense attention."""
    import torch

    a, b = torch.rand(n, n), torch.rand(n, n)
    return Call(lambda: torch.mm(a, b), lambda y: y.numpy(), operations=2.0 * n**3)


def tensor(x: np.ndarray) -> Any:
    """The array as torch sees it, in the same memory."""
    import torch

    if x.dtype.name == "bfloat16":  # a type torch does not take from NumPy
        return torch.from_numpy(x.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(x)


def set_threads(threads: int) -> None:
    """For all libraries that have one setting for the process; the others are told when a call is built."""
    import torch

    torch.set_num_threads(threads)
    ch.set_num_threads(threads)
