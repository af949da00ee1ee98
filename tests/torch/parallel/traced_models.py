"""Models whose sequence is spread over ranks, traced; and the same in one process."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tests.torch.parallel.ranks import groups
from tests.torch.parallel.spread_models import inputs_of, model_of

import clearhead as ch
from clearhead.torch import parallel

STATISTICS = ("lse", "entropy", "max_weight", "distance", "on_first", "on_self")


@contextlib.contextmanager
def traced(name: str, ranks: int, layout: str = "contiguous", *, outside: bool = False, **options: Any):
    """A model in a context, and its trace; `outside`: the trace is begun before the context is."""
    model = model_of(name)
    context = parallel.context(groups[ranks], model=model, layout=layout)
    tracing = ch.trace(model, map_size=4, top_k=3, **options)
    first, second = (tracing, context) if outside else (context, tracing)
    with first as a, second as b:
        yield model, a if outside else b


def alone(name: str, padding: str, **options: Any) -> ch.traces.Trace:
    """The trace of the model in this process."""
    model = model_of(name)
    with torch.no_grad(), ch.trace(model, map_size=4, top_k=3, **options) as trace:
        model(**inputs_of(name, padding))
    return trace


def kept(name: str, ranks: int, padding: str, layout: str, path: str, outside: bool) -> list[str]:
    """What a rank finds in the files that all of them have written."""
    with torch.no_grad(), traced(name, ranks, layout, outside=outside, keep=path, values=True) as (model, trace):
        model(**inputs_of(name, padding))
    return [str(trace.sequences[1].ids()), str(trace.sequences[1].patterns())]


def saved(name: str, ranks: int, folders: list[str]) -> str:
    """Each rank writes to a folder of its own, as machines do that share none."""
    rank = torch.distributed.get_rank()
    with torch.no_grad(), traced(name, ranks, keep=str(Path(folders[rank]) / "x.safetensors")) as (model, trace):
        model(**inputs_of(name, "none"))
    try:
        return str(trace.names)
    except ValueError as error:
        return f"{error} ({trace!r})"


def asked(name: str, ranks: int, padding: str, layout: str) -> list[dict[str, Any]]:
    """What views over the group say, of the second sequence."""
    with torch.no_grad(), traced(name, ranks, layout) as (model, trace):
        model(**inputs_of(name, padding))
    own, found = trace.sequences[1], []
    for layer in own.names:
        view = own[layer]
        whole = view.gather()
        found.append({x: getattr(whole, x).numpy() for x in (*STATISTICS, "received")})
        found[-1]["map"] = view.map().numpy()
        found[-1]["weights"] = view.weights(head=1, rows=slice(2, 9)).numpy()
        found[-1]["patterns"] = str(view.patterns())
    found[-1]["table"] = str(own.patterns())
    return found


def backward(ranks: int, path: str) -> None:
    """A trace with gradients, of the sum over all positions of the first logit."""
    given = inputs_of("llama", "none")
    with traced("llama", ranks, "zigzag", keep=path, gradients=True) as (model, _):
        model(given["input_ids"][:1]).logits[..., 0].sum().backward()


def backward_alone() -> ch.traces.Trace:
    model = model_of("llama")
    with ch.trace(model, map_size=4, top_k=3, gradients=True) as trace:
        model(inputs_of("llama", "none")["input_ids"][:1]).logits[..., 0].sum().backward()
    return trace


def changed(ranks: int, options: dict[str, Any]) -> np.ndarray:
    """The logits of a model of which something is taken out."""
    with torch.no_grad(), traced("llama", ranks, "zigzag", **options) as (model, _):
        own = model(**inputs_of("llama", "right")).logits
    return parallel.gather(own, group=groups[ranks], layout="zigzag").numpy()


def changed_alone(options: dict[str, Any]) -> np.ndarray:
    model = model_of("llama")
    with torch.no_grad(), ch.trace(model, **options):
        return model(**inputs_of("llama", "right")).logits.numpy()


def full(ranks: int, path: str) -> Any:
    """One rank cannot write."""
    from clearhead.traces import tensor_files

    put = tensor_files.Writer.put

    def refused(writer: Any, name: str, array: np.ndarray) -> None:
        if torch.distributed.get_rank() == 1:
            raise OSError(28, "No space left on device")
        put(writer, name, array)

    tensor_files.Writer.put = refused
    try:
        with torch.no_grad(), traced("llama", ranks, keep=path) as (model, _):
            model(**inputs_of("llama", "none"))
    finally:
        tensor_files.Writer.put = put


def long(ranks: int, path: str, n: int) -> None:
    """So many positions that what a rank holds has pages of its own."""
    with torch.no_grad(), traced("llama", ranks, "zigzag", keep=path, layers=[0]) as (model, _):
        model(_long_ids(n))


def long_alone(n: int) -> ch.traces.Trace:
    model = model_of("llama")
    with torch.no_grad(), ch.trace(model, map_size=4, top_k=3, layers=[0]) as trace:
        model(_long_ids(n))
    return trace


def _long_ids(n: int) -> torch.Tensor:
    return torch.randint(5, 90, (1, n), generator=torch.Generator().manual_seed(6))


def cannot_begin(ranks: int, path: str) -> Any:
    """One rank has no room for a file at all."""
    from clearhead.traces import group_writing

    class Refusing(group_writing.RankWriter):
        def __init__(self, *given: Any) -> None:
            if torch.distributed.get_rank() == 1:
                raise OSError(28, "No space left on device")
            super().__init__(*given)

    writer, group_writing.RankWriter = group_writing.RankWriter, Refusing
    try:
        with torch.no_grad(), traced("llama", ranks, keep=path) as (model, _):
            model(**inputs_of("llama", "none"))
    finally:
        group_writing.RankWriter = writer


def disagreeing(ranks: int, folder: str, what: str) -> Any:
    """Ranks that name a trace otherwise, or keep something else."""
    rank = torch.distributed.get_rank()
    name = f"{rank if what == 'name' else 0}.safetensors"
    options = {"values": rank == 1} if what == "values" else {}
    with torch.no_grad(), traced("llama", ranks, keep=str(Path(folder) / name), **options) as (model, _):
        model(**inputs_of("llama", "none"))
