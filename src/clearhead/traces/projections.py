"""The output projection of a layer, W_O, cut into the rows of each head.

A plain Linear is its weights. What is wrapped around one, as LoRA is, may multiply by another matrix than the one it
calls its weight, so it is asked for what it does to each unit vector.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float

from clearhead.tensors import on_host

if TYPE_CHECKING:
    from clearhead.traces.result import Trace


class Projection(NamedTuple):
    """rows: W_O of each head; a layer gives Σ z rows + bias, with z what a head mixed. bias: 0 if there is none."""

    rows: Float[np.ndarray, "h d_v width"]
    bias: Float[np.ndarray, " width"]


def is_projection(module: Any) -> bool:
    """Whether a module multiplies by one matrix: a Linear, or what GPT-2 calls a Conv1D."""
    return type(module).__name__ == "Conv1D" or isinstance(module, sys.modules["torch"].nn.Linear)


def is_plain(module: Any) -> bool:
    """Whether a module's weights are what it multiplies by: none that is made of one, as those of 4 bits are."""
    return type(module).__name__ == "Conv1D" or type(module) is sys.modules["torch"].nn.Linear


class Affine(NamedTuple):
    """x ↦ x · matrix + bias"""

    matrix: Float[np.ndarray, "width_in width"]
    bias: Float[np.ndarray, " width"]


def read_affine(module: Any, width: int) -> Affine | None:
    """What a module multiplies rows of so many columns by, found out by giving it some; None if it does otherwise."""
    torch = sys.modules["torch"]
    own = next((x for x in module.parameters() if x.is_floating_point()), torch.zeros(()))
    given = torch.zeros((1, width + 2, width), dtype=own.dtype, device=own.device)
    given[0, :width] = torch.eye(width)
    given[0, width] = 1 - 2 * (torch.arange(width) % 2)  # a row of many terms, as a test; the last is nothing
    with torch.no_grad():
        found = _array(module.forward(given)[0])  # not called: hooks are for what the model is given
    bias = found[-1]
    matrix = found[:width] - bias
    test = _array(given)[0, width]
    size = np.abs(matrix).sum(axis=0) + np.abs(bias)
    if (np.abs(test @ matrix + bias - found[width]) > 8 * torch.finfo(own.dtype).eps * size).any():
        return None
    return Affine(matrix, bias)


def projection(trace: Trace, name: str, given: Mapping[str, Any] | None, model: Any) -> Projection:
    """The output projection of a layer: the one given for it, or the one that was found while the model ran.

    given: by the layer's name, a module, or a matrix (h·d_v, width) that what heads give is multiplied by
    """
    values = kept_values(trace, name)
    heads, d_v = values.heads, values.v.shape[-1]
    found = (given or {}).get(name)
    if found is None:
        found = _found(trace, name.partition(":")[0], model)
    matrix, bias = _matrix(found, name, heads * d_v)
    if matrix.ndim != 2 or matrix.shape[0] != heads * d_v:
        raise ValueError(
            f"the output projection of {name} must have a row for each of its {heads} · {d_v} columns of heads, "
            f"({heads * d_v}, width), got shape {matrix.shape}"
        )
    bias = np.zeros(matrix.shape[1]) if bias is None else bias
    return Projection(matrix.reshape(heads, d_v, -1), bias)


class Values(NamedTuple):
    """v (h_kv, n_k, d_v), and how many heads share them"""

    v: np.ndarray
    heads: int

    def of_heads(self) -> Float[np.ndarray, "h n_k d_v"]:
        """For each head its own, in float64."""
        return np.repeat(self.v.astype(np.float64), self.heads // len(self.v), axis=0)


def kept_values(trace: Trace, name: str) -> Values:
    """The values of a layer."""
    take, entry = trace._sequence()
    piece = take.piece(name, entry)
    if piece.v is None:
        raise ValueError(
            "this needs the values of the model's attention, which were not kept: trace(model, values=True)"
        )
    return Values(piece.v, len(piece.q))


def unchanged_values(trace: Trace, name: str) -> Values:
    """The values of a layer whose heads gave their weights times these values, and nothing else."""
    take, entry = trace._sequence()
    if take.piece(name, entry).changed:
        raise ValueError(
            f"what the heads of {name} gave was changed while the model ran, by ablate, by cut_weights or by dropout, "
            "so it is not what their weights and values say; trace without these, and in eval mode: model.eval()"
        )
    return kept_values(trace, name)


def the_model(trace: Trace, model: Any) -> Any:
    """The model that was traced."""
    found = trace._known_model() if model is None else model
    if found is None:
        raise ValueError("this trace does not know its model any more; give it: model=model")
    return found


def _found(trace: Trace, path: str, model: Any) -> Any:
    model = the_model(trace, model)
    module = model.get_submodule(path)
    if hasattr(module, "W_O"):  # of clearhead.torch
        return module
    if any(kind.__module__.startswith("clearhead.torch.") for kind in type(module).__mro__):
        return module.out_proj
    where = trace.facts.projections.get(path)
    if where is None:
        why = trace.facts.missing.get(
            wrapped(path),
            f"no Linear of {type(model).__name__} was given just what its heads gave, as where there is a gate or a "
            "norm between",
        )
        raise ValueError(
            f"the output projection of {path} was not found: {why}; give it: projections={{{path!r}: …}}, a module or "
            "a matrix (h·d_v, width)"
        )
    return model.get_submodule(where)


def wrapped(path: str) -> str:
    """By which name it is told why what is around the projection of a layer cannot be read."""
    return f"around the projection of {path}"


def _matrix(found: Any, name: str, width: int) -> tuple[np.ndarray, np.ndarray | None]:
    """(h·d_v, width), and the bias"""
    if hasattr(found, "W_O"):
        return _array(found.W_O), None if found.b_O is None else _array(found.b_O)
    if not hasattr(found, "parameters"):
        return _array(found), None
    if not is_plain(found):
        read = read_affine(found, width)
        if read is None:
            raise ValueError(
                f"the output projection of {name}, a {type(found).__name__}, does not multiply by one matrix, as where "
                "there is dropout in it: model.eval(), or give the matrix (h·d_v, width)"
            )
        return read.matrix, read.bias
    matrix = _array(found.weight)
    turned = matrix if type(found).__name__ == "Conv1D" else matrix.T
    return turned, None if found.bias is None else _array(found.bias)


def _array(x: Any) -> np.ndarray:
    x = x.detach() if hasattr(x, "detach") else x
    return np.asarray(on_host(x)).astype(np.float64)
