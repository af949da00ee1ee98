"""How attention is shared out among groups of positions, in every head of every layer, without n × n."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clearhead.traces.naming import role
from clearhead.traces.reading import Grouping
from clearhead.traces.tables import ByLayer, shortened

if TYPE_CHECKING:
    from clearhead.traces.result import Trace


class Shares(ByLayer[np.ndarray]):
    """The share of its attention that each head gives to each group, (h, groups) by the layers' names.

    Printed, a line for each layer, the mean over its heads.
    """

    def __init__(self, layers: dict[str, np.ndarray], groups: Grouping) -> None:
        self.layers, self.groups = layers, groups

    def title(self) -> str:
        return "share of attention, the mean over heads:"

    def rows(self) -> list[list[str]]:
        lines = ([name, *shortened([f"{x:.3f}" for x in shares.mean(0)])] for name, shares in self.layers.items())
        return [["", *shortened(self.groups.names)], *lines]


def shared_out(trace: Trace, groups: Any, of: str | None) -> Shares:
    """The mean over queries, all or those of one group, of what they give to each group: see `Trace.shares`."""
    if not isinstance(groups, Grouping):
        raise TypeError(
            "shares are given to groups such as trace.parts, trace.words or trace.sentences, got "
            f"{type(groups).__name__}"
        )
    found: dict[str, np.ndarray] = {}
    for name in trace.names:
        view = trace[name]
        queries = _queries(name, groups, of, view.n_q)
        if _looks_at(name, groups) and view.n_k == len(groups.numbers) and queries is not None:
            found[name] = np.asarray(view.grouped(queries, groups.numbers))[..., 0, :]
    if not found:
        raise ValueError(f"no layer has {len(groups.numbers)} keys, as many as the groups have positions")
    return Shares(found, groups)


def _looks_at(name: str, groups: Grouping) -> bool:
    """Whether the keys of a layer are of the sequence that is grouped."""
    return role(name) in ("encoder", "cross") if groups.source else role(name) != "cross"


def _queries(name: str, groups: Grouping, of: str | None, n_q: int) -> np.ndarray | None:
    """0 for the queries that count, −1 for others; None where a layer's queries are not those that are grouped."""
    if of is None:
        return np.zeros(n_q, np.int64)
    if role(name) == "cross" or n_q != len(groups.numbers):
        return None
    return np.where(groups.numbers == groups.number(of), 0, -1)
