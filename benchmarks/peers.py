"""How each library is asked for the same attention.

A `Problem` says what is to be computed, once; each function below turns it into a call of one library that takes no
arguments, or into None where that library cannot do it. Whatever is done once per model and not once per call (masks
written out, sessions opened, layouts changed) is done here, outside of what is timed, and each library gets the form
of a mask that it is fastest with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

import clearhead as ch
from benchmarks.machine import cores
from clearhead import masks
from clearhead.biases import RelativeBias

SEED = 7  # of dropout
MOST_TEXTBOOK_SCORES = 2**23  # the textbook writes them out several times over
OPSET = 23  # the first with Attention


@dataclass(frozen=True)
class Problem:
    """Attention to be computed. q (b, h, n_q, d)  k (b, h_kv, n_k, d)  v (b, h_kv, n_k, d_v)

    `mask` and `bias` are as clearhead takes them; `allowed` and `addition` say the same written out, for those who
    need it so, with 2 or 4 axes. A causal problem has `mask` too, and no `allowed`: everyone has a word for that.
    """

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    _: KW_ONLY
    causal: bool = False
    mask: masks.Mask | None = None
    allowed: np.ndarray | None = None
    bias: np.ndarray | RelativeBias | None = None
    addition: np.ndarray | None = None
    dropout: float = 0.0

    @property
    def scores(self) -> int:
        """How many there are: b · h · n_q · n_k."""
        return self.q.shape[0] * self.q.shape[1] * self.q.shape[2] * self.k.shape[2]

    @property
    def grouped(self) -> bool:
        return self.q.shape[1] != self.k.shape[1]

    @property
    def operations(self) -> float:
        """Multiplications and additions of the two products, as if nothing were masked."""
        return 2.0 * self.scores * (self.q.shape[-1] + self.v.shape[-1])

    def for_textbook(self) -> dict[str, Any]:
        """The options with masks and biases written out, from what clearhead is given."""
        n_q, n_k, bias = self.q.shape[2], self.k.shape[2], self.bias
        mask = None if self.mask is None else self.mask.array(n_q, n_k, batch_shape=self.q.shape[:1], heads=1)
        bias = bias.array(n_q, n_k) if isinstance(bias, RelativeBias) else bias
        return {"mask": mask, "bias": bias} | ({"dropout": self.dropout, "seed": SEED} if self.dropout else {})

    def truth(self, kind: type[np.floating[Any]] = np.float64) -> np.ndarray:
        """What the textbook says in the given type → (b, h, n_q, d_v)"""
        q, k, v = (x.astype(kind) for x in (self.q, self.k, self.v))
        return ch.scaled_dot_product_attention(q, k, v, **self.for_textbook())[0]


@dataclass(frozen=True)
class Call:
    """`run` is what is timed; `read` turns what it returns into an array (b, h, n_q, d_v) that can be compared."""

    run: Callable[[], Any]
    read: Callable[[Any], np.ndarray] = np.asarray
    _: KW_ONLY
    lean: Callable[[], Callable[[], Any]] | None = None  # makes one that keeps no pool of memory, to be weighed
    random: bool = False  # its dropout is its own, so its numbers are too
    operations: float = 0.0  # where the rate is wanted


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


def with_onnxruntime(problem: Problem, threads: int) -> Call | None:
    # It has no dropout, and of the half types only float16.
    if find_spec("onnxruntime") is None or problem.dropout or problem.q.dtype.name == "bfloat16":
        return None
    import onnxruntime
    from onnx import helper

    inputs = {"q": problem.q, "k": problem.k, "v": problem.v}
    extra = problem.allowed if problem.allowed is not None else problem.addition
    if extra is not None:  # only leading axes may be left to broadcasting
        inputs["attn_mask"] = np.broadcast_to(extra, (*extra.shape[:-2], problem.q.shape[2], problem.k.shape[2])).copy()
    kinds = {name: helper.np_dtype_to_tensor_dtype(x.dtype) for name, x in inputs.items()}
    graph = helper.make_graph(
        [helper.make_node("Attention", list(inputs), ["y"], is_causal=int(problem.causal))],
        "attention",
        [helper.make_tensor_value_info(name, kinds[name], x.shape) for name, x in inputs.items()],
        [helper.make_tensor_value_info("y", kinds["q"], None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=11).SerializeToString()

    def session(arena: bool) -> onnxruntime.InferenceSession:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.enable_cpu_mem_arena = arena
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def lean() -> Callable[[], Any]:
        plain = session(arena=False)
        plain.run(None, inputs)
        return lambda: plain.run(None, inputs)

    opened = session(arena=True)
    return Call(lambda: opened.run(None, inputs), lambda results: results[0], lean=lean)


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
