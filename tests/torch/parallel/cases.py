"""Calls over a group, each beside the same call on one machine: a table, and what is compared.

A case is the arguments of a call of the whole, as numbers to draw it from, so that every rank draws the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from tests.torch.parallel.ranks import groups

import clearhead.torch as cht
from clearhead import biases as numpy_biases, masks
from clearhead.torch import biases, parallel
from clearhead.torch.parallel.layouts import even_shards, shards_of

FLOAT64, FLOAT32, BFLOAT16 = "float64", "float32", "bfloat16"

# Sums over keys and queries run in another order, which moves the last digits; in bfloat16 a gradient of keys is
# rounded once for each rank that has used them, to 8 bits.
NOISE = {"float64": 4e-15, "float32": 2e-6, "bfloat16": 2e-2}


@dataclass(frozen=True)
class Case:
    """A call of the whole. mask and more are expressions of this file's names, as functions cannot be sent."""

    n: int = 37
    n_k: int | None = None
    heads: int = 4
    kv_heads: int = 4
    batch: tuple[int, ...] = (2,)
    d: int = 5
    d_v: int = 7
    dtype: str = FLOAT64
    mask: str = "None"
    bias: str = "None"
    sinks: str = "None"
    options: dict[str, Any] = field(default_factory=dict)
    split: str = "queries"
    layout: str = "contiguous"
    lengths: tuple[int, ...] | None = None  # of the shards; even ones unless given
    lse: bool = True
    only: tuple[int, ...] = (2, 4)  # numbers of ranks


@dataclass
class Drawn:
    """The tensors of a case: leaves that get gradients."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    bias: Any
    mask: Any
    sinks: Any
    leaves: dict[str, torch.Tensor]  # of which every rank has all
    upstream: torch.Tensor  # the gradients of output and lse
    lse_upstream: torch.Tensor


def draw(case: Case, seed: int = 3) -> Drawn:
    """The same tensors wherever it is called."""
    rng = np.random.default_rng(seed)
    n_k = case.n if case.n_k is None else case.n_k
    kind = getattr(torch, case.dtype)

    def tensor(*shape: int, kind: torch.dtype = kind) -> torch.Tensor:
        return torch.from_numpy(rng.standard_normal(shape)).to(kind)

    q, k, v = (
        tensor(*case.batch, h, n, d).requires_grad_()
        for h, n, d in ((case.heads, case.n, case.d), (case.kv_heads, n_k, case.d), (case.kv_heads, n_k, case.d_v))
    )
    leaves: dict[str, torch.Tensor] = {}

    def leaf(name: str, *shape: int) -> torch.Tensor:
        leaves[name] = tensor(*shape, kind=torch.float64 if kind == torch.float64 else torch.float32).requires_grad_()
        return leaves[name]

    names = {
        "masks": masks, "biases": biases, "numpy_biases": numpy_biases, "np": np, "torch": torch, "rng": rng,
        "n": case.n, "n_k": n_k, "heads": case.heads, "batch": case.batch, "leaf": leaf,
    }  # fmt: skip
    mask, bias, sinks = (eval(text, names) for text in (case.mask, case.bias, case.sinks))
    upstream = tensor(*case.batch, case.heads, case.n, case.d_v)
    lse_upstream = tensor(*case.batch, case.heads, case.n, kind=torch.float64)
    return Drawn(q, k, v, bias, mask, sinks, leaves, upstream, lse_upstream)


def shards(case: Case, ranks: int, n: int) -> Any:
    """The positions that each rank holds."""
    lengths = case.lengths or [sum(map(len, x)) for x in even_shards(n, ranks, case.layout)]
    assert sum(lengths) == n
    return [
        torch.cat([torch.arange(run.start, run.stop) for run in runs])
        for runs in shards_of(lengths, case.layout, "rows")
    ]


def attended(case: Case, ranks: int) -> dict[str, Any]:
    """What one rank of the first so many gets: its rows of output and lse, and its gradients."""
    q, k, v, options, drawn, upstream = arguments(case, ranks)
    answer = parallel.attention(q, k, v, **options, return_lse=case.lse)
    return judged({"q": q, "k": k, "v": v} | drawn.leaves, answer, *upstream)


def arguments(case: Case, ranks: int) -> tuple[Any, ...]:
    """A rank's own part of a case: q, k, v, options, what was drawn, and its part of the gradients."""
    drawn, rank = draw(case), dist.get_rank()
    queries = shards(case, ranks, case.n)[rank]
    keys = shards(case, ranks, case.n if case.n_k is None else case.n_k)[rank]
    q, k, v = (
        x.detach()[..., rows, :].clone().requires_grad_()
        for x, rows in ((drawn.q, queries), (drawn.k, keys), (drawn.v, keys))
    )
    options = {
        "mask": drawn.mask, "bias": drawn.bias, "sinks": drawn.sinks, "split": case.split, "layout": case.layout,
        "group": groups[ranks], **case.options,
    }  # fmt: skip
    return q, k, v, options, drawn, (drawn.upstream[..., queries, :], drawn.lse_upstream[..., queries])


def expected(case: Case) -> dict[str, np.ndarray]:
    """What one machine gets of the whole."""
    drawn = draw(case)
    answer = cht.attention(
        drawn.q, drawn.k, drawn.v, drawn.mask, bias=drawn.bias, sinks=drawn.sinks, return_lse=case.lse, **case.options
    )
    leaves = {"q": drawn.q, "k": drawn.k, "v": drawn.v} | drawn.leaves
    return judged(leaves, answer, drawn.upstream, drawn.lse_upstream)


def judged(leaves: dict[str, torch.Tensor], answer: Any, *upstream: torch.Tensor) -> dict[str, np.ndarray]:
    """Output, lse and gradients, as arrays."""
    output, lse = answer if isinstance(answer, tuple) else (answer, None)
    found = {"output": output}
    loss = (output * upstream[0]).sum()
    if lse is not None:
        found["lse"] = lse
        there = torch.isfinite(lse)
        loss = loss + (torch.where(there, lse, 0) * upstream[1].to(lse.dtype)).sum()
    loss.backward()
    found |= {f"d_{name}": x.grad for name, x in leaves.items()}
    return {name: x.detach().to(torch.float64).numpy() for name, x in found.items() if x is not None}


def together(case: Case, parts: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The whole from what the ranks got. What every rank has all of must have the same bits on each."""
    ranks, n_k = len(parts), case.n if case.n_k is None else case.n_k
    whole: dict[str, np.ndarray] = {}
    for name in parts[0]:
        axis = {"output": -2, "lse": -1, "d_q": -2, "d_k": -2, "d_v": -2}.get(name)
        if axis is None:
            assert all((part[name] == parts[0][name]).all() for part in parts), name
            whole[name] = parts[0][name]
            continue
        order = torch.cat(shards(case, ranks, n_k if name in ("d_k", "d_v") else case.n)).numpy()
        joined = np.concatenate([part[name] for part in parts], axis=axis)
        whole[name] = np.take(joined, np.argsort(order), axis=axis)
    return whole


VANISHING = 1e-4  # of the largest gradient


def compare(case: Case, found: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> None:
    """Within the noise of the type, relative to the largest number there is.

    The terms of a gradient may cancel, as those of a bias for each query do, which leaves the noise of the terms alone:
    one that vanishes beside the others is compared relative to those.
    """
    assert found.keys() == wanted.keys()
    steepest = max(_largest(whole) for name, whole in wanted.items() if name.startswith("d_"))
    for name, whole in wanted.items():
        there = np.isfinite(whole)
        assert (found[name][~there] == whole[~there]).all(), name
        largest = _largest(whole)
        largest = steepest if name.startswith("d_") and largest < VANISHING * steepest else largest
        np.testing.assert_allclose(
            found[name][there], whole[there], rtol=0, atol=NOISE[case.dtype] * largest, err_msg=name
        )


def _largest(x: np.ndarray) -> float:
    return max(float(np.abs(x[np.isfinite(x)]).max(initial=0)), 1e-9)


CAUSAL = "masks.causal()"
PADDED = "masks.causal() & masks.key_lengths(np.array([29, 37]))"
DOCUMENTS = "masks.causal() & masks.documents(boundaries=[0, 9, 9, 22, 37])"
BATCH_DOCUMENTS = "masks.documents(np.sort(rng.integers(0, 4, (2, 37)), axis=-1))"
SPARSE = "masks.block_sparse(rng.random((4, 10, 10)) < 0.3, 4)"
ARRAY = "torch.from_numpy(rng.random((2, 1, 37, 37)) < 0.3)"
BY_HEAD = "masks.where(lambda b, h, i, j: (i + j + h + b) % 3 == 0) & masks.causal()"
HEAD_ARRAY = "masks.array(rng.random((4, 37, 37)) < 0.5) & masks.window(20)"
FLOAT_MASK = "torch.where(torch.ones(n, n_k).tril().bool(), leaf('mask', n, n_k), -torch.inf)"
PREFIX = "masks.causal() & (masks.window(3) | masks.prefix(2))"
ALIBI = "biases.alibi(leaf('slopes', heads))"
GROUPED: dict[str, Any] = {"heads": 8, "kv_heads": 4}

TABLE: dict[str, Case] = {
    "plain": Case(),
    "causal": Case(mask=CAUSAL),
    "causal zigzag": Case(mask=CAUSAL, layout="zigzag"),
    "window": Case(mask="masks.window(5)"),
    "window both sides, zigzag": Case(mask="masks.window(4, 2)", layout="zigzag"),
    "two runs of keys": Case(n=307, batch=(), mask=PREFIX, sinks="leaf('sinks', heads)"),
    "two runs, zigzag, dropout": Case(n=307, mask=PREFIX, layout="zigzag", options={"dropout": 0.3, "seed": 5}),
    "documents": Case(mask=DOCUMENTS),
    "documents of each batch entry, zigzag": Case(mask=BATCH_DOCUMENTS, layout="zigzag"),
    "padding": Case(mask=PADDED),
    "padding by heads": Case(mask=PADDED, split="heads"),
    "dilated": Case(mask="masks.dilated(3) & masks.causal()", layout="zigzag"),
    "block sparse by head": Case(mask=SPARSE),
    "block sparse by head, split by heads": Case(mask=SPARSE, split="heads"),
    "a boolean tensor": Case(mask=ARRAY),
    "a boolean tensor, zigzag": Case(mask=ARRAY, layout="zigzag"),
    "a rule that knows heads": Case(mask=BY_HEAD),
    "a rule that knows heads, by heads": Case(mask=BY_HEAD, split="heads", layout="zigzag"),
    "an array by head, by heads": Case(mask=HEAD_ARRAY, split="heads"),
    "a float mask": Case(mask=FLOAT_MASK),
    "a float mask, by heads": Case(mask=FLOAT_MASK, split="heads"),
    "a float mask and a bias": Case(mask=FLOAT_MASK, bias="leaf('bias', heads, n, n_k)", layout="zigzag"),
    "nothing left to some": Case(mask="masks.causal(offset=-9)"),
    "grouped heads": Case(**GROUPED, mask=CAUSAL),
    "grouped heads, by heads": Case(**GROUPED, mask=CAUSAL, split="heads", layout="zigzag"),
    "shared heads, by heads": Case(heads=8, kv_heads=2, mask=CAUSAL, split="heads", sinks="leaf('sinks', heads)"),
    "one head of keys, by heads": Case(heads=4, kv_heads=1, split="heads"),
    "uneven runs of heads": Case(heads=10, kv_heads=5, split="heads", mask="masks.window(8)"),
    "no head axis": Case(heads=1, kv_heads=1, batch=(), mask=CAUSAL),
    "two batch axes": Case(batch=(2, 3), mask="masks.window(6)"),
    "fewer queries": Case(n=17, n_k=41, mask=CAUSAL),
    "fewer queries by heads": Case(n=17, n_k=41, mask=CAUSAL, split="heads", bias=ALIBI),
    "softcap and scale": Case(mask=CAUSAL, options={"softcap": 2.0, "scale": 0.7}),
    "softcap and scale by heads": Case(mask=CAUSAL, options={"softcap": 2.0, "scale": 0.7}, split="heads"),
    "sinks": Case(mask="masks.window(6)", sinks="leaf('sinks', heads)", layout="zigzag"),
    "sinks by heads": Case(mask="masks.window(6)", sinks="leaf('sinks', heads)", split="heads"),
    "one number for a sink": Case(sinks="0.5"),
    "dropout": Case(mask=CAUSAL, options={"dropout": 0.4, "seed": 11}),
    "dropout zigzag": Case(mask=CAUSAL, options={"dropout": 0.4, "seed": 11}, layout="zigzag"),
    "dropout by heads": Case(**GROUPED, options={"dropout": 0.4, "seed": 11}, split="heads"),
    "dropout by shared heads": Case(heads=8, kv_heads=2, options={"dropout": 0.4, "seed": 2**63 + 1}, split="heads"),
    "a bias of each head": Case(bias="leaf('bias', heads, n, n_k)", mask=CAUSAL),
    "a bias of each head, by heads": Case(bias="leaf('bias', heads, n, n_k)", mask=CAUSAL, split="heads"),
    "a bias of keys alone": Case(bias="leaf('bias', 1, n_k)", mask=CAUSAL, layout="zigzag"),
    "alibi with slopes": Case(bias=ALIBI, mask=CAUSAL, layout="zigzag"),
    "t5 with a table": Case(bias="biases.t5(leaf('table', 8, heads))"),
    "t5 with a table, by heads": Case(bias="biases.t5(leaf('table', 8, heads))", split="heads"),
    "alibi of NumPy": Case(bias="numpy_biases.alibi(heads)", mask="masks.window(7)"),
    "alibi of NumPy, by heads": Case(bias="numpy_biases.alibi(heads)", mask="masks.window(7)", split="heads"),
    "uneven shards": Case(mask=CAUSAL, lengths=(11, 3, 20, 3), only=(4,)),
    "uneven shards by heads": Case(mask=CAUSAL, lengths=(11, 3, 20, 3), only=(4,), split="heads"),
    "an empty shard": Case(mask=CAUSAL, lengths=(0, 37), only=(2,), sinks="leaf('sinks', heads)"),
    "empty shards": Case(mask="masks.window(5)", lengths=(20, 0, 17, 0), only=(4,)),
    "empty shards by heads": Case(mask="masks.window(5)", lengths=(20, 0, 17, 0), only=(4,), split="heads"),
    "shorter than ranks": Case(n=3, mask=CAUSAL, layout="zigzag"),
    "no positions": Case(n=0),
    "without lse": Case(mask=CAUSAL, lse=False, split="heads"),
    "float32": Case(dtype=FLOAT32, n=300, d=16, mask=CAUSAL, layout="zigzag"),
    "float32 by heads": Case(dtype=FLOAT32, n=300, d=16, mask=CAUSAL, split="heads"),
    "bfloat16": Case(dtype=BFLOAT16, n=300, d=16, mask=CAUSAL, layout="zigzag"),
    "bfloat16 by heads": Case(dtype=BFLOAT16, n=300, d=16, mask=CAUSAL, split="heads"),
    "bfloat16 in two runs": Case(dtype=BFLOAT16, n=307, d=16, mask=PREFIX),
}  # fmt: skip


def bytes_sent(case: Case, ranks: int) -> tuple[Any, list[int], list[int]]:
    """What `explain` tells, and the bytes that this rank really sent to each, forwards and backwards."""
    q, k, v, options, _, upstream = arguments(case, ranks)
    told = parallel.explain(q, k, v, **options, return_lse=case.lse)
    counted: list[list[int]] = []
    real = dist.all_to_all_single

    def count(into: Any, out: Any, _: Any, sizes: list[int], group: Any = None) -> Any:
        counted.append([size * out.dtype.itemsize for size in sizes])
        return real(into, out, _, sizes, group=group)

    dist.all_to_all_single = count
    try:
        answer = parallel.attention(q, k, v, **options, return_lse=case.lse)
        forward = len(counted)
        judged({"q": q}, answer, *upstream)
    finally:
        dist.all_to_all_single = real
    halves = counted[:forward], counted[forward:]
    return told, *([sum(x) for x in zip(*half, strict=True)] or [0] * ranks for half in halves)
