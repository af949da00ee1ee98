"""Which heads are to be taken out of a model while it runs, and what is to stand in for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clearhead.traces.naming import concerns

if TYPE_CHECKING:
    from clearhead.traces.result import Trace

WAYS = ("zero", "mean")


@dataclass(frozen=True, eq=False)
class Ablation:
    """What becomes of one head, or of all heads of a layer (head None)."""

    layer: int | str
    head: int | None
    way: str | Trace

    def concerns(self, path: str) -> bool:
        return concerns(self.layer, path)


def checked(ablate: Mapping[Any, Any] | None) -> list[Ablation]:
    """What `ablate` asks for: {(layer, head) or layer: "zero", "mean" or a trace}, layers by number or path."""
    if ablate is None:
        return []
    if not isinstance(ablate, Mapping):
        raise TypeError(f"ablate must be a mapping such as {{(3, 5): 'zero'}}, got {type(ablate).__name__}")
    return [_checked(key, way) for key, way in ablate.items()]


def _checked(key: Any, way: Any) -> Ablation:
    from clearhead.traces.result import Trace

    layer, head = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
    right = isinstance(layer, (int, str)) and not isinstance(layer, bool)
    if not right or not (head is None or (isinstance(head, int) and not isinstance(head, bool) and head >= 0)):
        raise TypeError(f"ablate names heads as (layer, head), the layer by number or module path, got {key!r}")
    if not (isinstance(way, Trace) or way in WAYS):
        raise ValueError(f'ablate replaces a head by "zero", "mean" or what a trace has of it, got {way!r}')
    return Ablation(layer, head, way)
