"""What each head does to a number that a model gives: measured with the head and without it, one head after another."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clearhead.files import write_whole
from clearhead.traces.progress import showing
from clearhead.traces.tables import HeadScores

VERSION = 1


@dataclass(frozen=True, eq=False, repr=False)
class Effects(HeadScores):
    """What a number becomes without each head, less what it is with all of them, by the names of the layers.

    baseline: the number with all heads. way: what stood in for a head. Printed, the heads that matter most.
    """

    baseline: float
    way: str

    def title(self) -> str:
        return f"{self.baseline:.6g} with all heads; without one ({self.way}):"


def measured(
    model: Any,
    heads: dict[str, int],
    measure: Callable[[], Any],
    *,
    way: str = "zero",
    resume: str | Path | None = None,
    progress: bool = True,
) -> Effects:
    """The effect of every head of some layers, {path: how many heads}: see `Trace.effects`."""
    done = _Done(None if resume is None else Path(resume), {"way": way, "heads": heads, "version": VERSION})
    baseline = done.number("all", lambda: _run(model, measure, None))
    values = {name: np.zeros(count) for name, count in heads.items()}
    heads_in_order = {f"{name} {head}": (name, head) for name, count in heads.items() for head in range(count)}
    with showing(progress, list(heads_in_order)) as steps:
        for step in steps:
            name, head = heads_in_order[step]
            number = done.number(step, functools.partial(_run, model, measure, {(name, head): way}))
            values[name][head] = number - baseline
    return Effects(values, f"Δ ({way})", baseline, way)


def _run(model: Any, measure: Callable[[], Any], ablate: dict[Any, str] | None) -> float:
    from clearhead.traces.opening import trace

    with trace(model, layers=[], ablate=ablate):
        number = measure()
    try:
        found = float(number)
    except (TypeError, ValueError):
        raise TypeError(
            f"measure must call the model and return one number, such as its loss, got {type(number).__name__}"
        ) from None
    return found


class _Done:
    """Numbers that were measured, kept in a file after each of them, if there is one."""

    def __init__(self, path: Path | None, settings: dict[str, Any]) -> None:
        self.path, self.settings = path, settings
        self.numbers: dict[str, float] = {}
        if path is not None and path.exists():
            self.numbers = self._read(path)

    def _read(self, path: Path) -> dict[str, float]:
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            numbers = dict(content["numbers"])
            settings = content["settings"]
        except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, ValueError):
            raise ValueError(f"{path} does not hold effects that were measured; give resume= another path") from None
        if settings != self.settings:
            raise ValueError(f"{path} holds effects of other heads or by another way; give resume= another path")
        return numbers

    def number(self, name: str, measure: Callable[[], float]) -> float:
        if name not in self.numbers:
            self.numbers[name] = measure()
            if self.path is not None:
                content = json.dumps({"settings": self.settings, "numbers": self.numbers})
                write_whole(self.path, content.encode())
        return self.numbers[name]
