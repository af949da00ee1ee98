"""A trace as the layers of a page: stacks, what was generated, the image that was read, and traces side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearhead.page import Shown
from clearhead.traces import words
from clearhead.traces.images import patches_of
from clearhead.traces.naming import numbered, role

if TYPE_CHECKING:
    from clearhead.traces.effects import Effects
    from clearhead.traces.result import Trace


def shown_layers(trace: Trace, number: int = 0, effects: Effects | None = None) -> list[Shown]:
    """The layers of a trace, stack by stack, each as a page shows it."""
    trace._must_be_here("a page")
    take, entry = trace._sequence()
    several = len(trace.stacks) > 1
    names = [name for layers in trace.stacks.values() for _, name in sorted(layers.items())]
    image = take.image(entry)
    shown = []
    for name in names:
        view, stack = trace[name], role(name) if several else ""
        prompt = take.piece(name, entry).prompt
        shown.append(
            Shown(
                words.LAYERS[stack](number=numbered(name)[1]),
                view,
                stack=stack,
                trace=number,
                prompt=0 if stack == "cross" and prompt is not None else prompt,
                image=patches_of(image, view.n_k),
                statistics=_effects_of(effects, name, view.heads),
            )
        )
    return shown


def page_of(
    trace: Trace, beside: Mapping[str, Trace] | None, effects: Effects | None, options: dict[str, Any]
) -> tuple[list[Shown], dict[str, Any]]:
    """The layers of a page and its options, with the layers of other traces after those of the first."""
    others = dict(beside or {})
    layers = shown_layers(trace, effects=effects)
    for number, other in enumerate(others.values(), 1):
        layers += shown_layers(other, number)
    name = Path(str(trace.about.get("name") or trace.about.get("model") or "")).name or None  # of a folder, no path
    named = {"traces": [name or words.FIRST_TRACE(), *others]} if others else {}
    return layers, {"title": name, **named, **options}


def _effects_of(effects: Effects | None, name: str, heads: int) -> dict[str, Any] | None:
    if effects is None or name not in effects.names:
        return None
    return {"effect": effects.array[effects.names.index(name)][:heads]}
