"""Watching a model: which layer a call of attention belongs to, and whether it begins something or goes on."""

from __future__ import annotations

import functools
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from clearhead.tensors import to_numpy
from clearhead.torch.watching import Position, Spread, going_back, spread_over, whole_length
from clearhead.traces.ablation import Ablation
from clearhead.traces.cutting import cut_before, share_left
from clearhead.traces.edges import Cut
from clearhead.traces.images import Image, given_images
from clearhead.traces.layers import Keep, Layer, Part, settled
from clearhead.traces.naming import is_wanted
from clearhead.traces.replacing import replaced
from clearhead.traces.stream import Stream


@dataclass(eq=False)
class Forward:
    """One call of a model, or all steps of a generation: its layers by name, and the ids of its tokens."""

    layers: dict[str, Layer] = field(default_factory=dict)
    source_ids: np.ndarray | None = None  # what an encoder read, if there is one
    ids: np.ndarray | None = None
    images: Image | None = None  # of the whole batch
    stepped: int = 0  # the last forward that went on with an earlier one
    scales: list[np.ndarray] = field(default_factory=list)  # (b, n) each: how the last norm stretched each position
    over: Spread | None = None  # the ranks over which its sequence is spread


class _Given(NamedTuple):
    """What a layer was given, and the positions of its first query and key."""

    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    first: tuple[int, int]


class Recorder:
    """The watcher behind `trace`."""

    def __init__(
        self,
        model: nn.Module,
        layers: Any,
        keep: Keep | None,
        *,
        values: bool = False,
        gradients: bool = False,
        ablate: Sequence[Ablation] = (),
        cut_scores: Sequence[Cut] = (),
        cut_weights: Sequence[Cut] = (),
    ) -> None:
        self.model, self.layers, self.keep = model, layers, keep
        self.values, self.gradients = values or gradients, gradients
        self.stream = Stream(model) if self.values else None
        self.ablate, self.cut_scores, self.cut_weights = list(ablate), list(cut_scores), list(cut_weights)
        self.touched: set[Cut] = set()  # those that had an edge to cut
        self.ablated = 0  # calls of attention in which a head was replaced
        self.names = {id(module): name for name, module in model.named_modules()}
        self.thread = threading.get_ident()
        self.forwards: list[Forward] = []
        self.arrived: Counter[str] = Counter()
        self.number = 0  # of the call of the model that is under way, counted from 1
        self.depth = 0
        self.uses: Counter[str] = Counter()
        self.given: dict[str, np.ndarray] = {}  # ids that came with the call under way
        self.images: Image | None = None  # likewise

    # The model is entered and left, from whichever side: `generate` calls an encoder without its model.

    def entered(self, module: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        if threading.get_ident() != self.thread or going_back():
            return
        if self.depth == 0:
            self.number += 1
            self.uses.clear()
            over = spread_over()
            self.given = _ids(module, self.model, *((arguments, named) if over is None else ((), over.given)))
            self.images = given_images(self.model, arguments, named)
        self.depth += 1

    def left(self, module: nn.Module, *_: Any) -> None:
        if threading.get_ident() != self.thread or not self.depth or going_back():
            return
        self.depth -= 1
        if self.depth == 0 and self.stream is not None and self.forwards:
            scales = self.stream.taken_scales()
            self.forwards[-1].scales += [] if scales is None else [scales]

    def __call__(
        self,
        module: nn.Module,
        compute: Any,
        position: Position,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        **options: Any,
    ) -> torch.Tensor:
        self._refuse_spread()
        path = self.names.get(id(module))
        if path is None:
            unchanged: torch.Tensor = compute(q, k, v, **options)
            return unchanged
        if going_back():
            return self._once_more(path, compute, position, q, k, v, options)
        name, forward = self._place(path, position, k)
        given = _Given(q, k, v, _first(position, forward.layers.get(name)))
        options, output = self._cut(path, compute, given, options)
        self.record(path, name, forward, position, q, k, v, options)
        changed = replaced(output, path, name, self.ablate, position.real)
        self.ablated += changed is not output
        layer = forward.layers[name]
        cut = any(x.concerns(path) for x in self.cut_weights)
        layer.changed |= changed is not output or cut or bool(options.get("dropout"))
        if self.stream is not None:
            self.stream.gave(path, changed)
        if self.gradients and changed.requires_grad and layer.kept:
            layer.parts[-1].hooked = True
            changed.register_hook(functools.partial(layer.take_gradient, layer.parts[-1], self.keep))
        return changed

    def _refuse_spread(self) -> None:
        """Changes that need more of a sequence than a process has, where it is spread over several."""
        if spread_over() is None:
            return
        wanted = [f"ablate with {x.way!r}" for x in self.ablate if x.way == "mean"]
        wanted += ["ablate from a trace" for x in self.ablate if x.way not in ("zero", "mean")]
        wanted += ["cut_weights"] * bool(self.cut_weights)
        if wanted:
            raise NotImplementedError(
                f"{wanted[0]} needs all positions, and the sequence is spread over processes; there ablate with 'zero' "
                "and cut_scores work, and in one process everything does"
            )

    def _cut(
        self, path: str, compute: Any, given: _Given, options: dict[str, Any]
    ) -> tuple[dict[str, Any], torch.Tensor]:
        """The options of a call without the edges that are cut before the softmax, and what it gives without any."""
        q, k, v, first = given
        whole = whole_length()  # of which edges are told, where it is spread
        sizes = (q.shape[-2], k.shape[-2]) if whole is None else (whole, whole)
        cuts = (cut for cut in (*self.cut_scores, *self.cut_weights) if cut.concerns(path))
        self.touched.update(cut for cut in cuts if cut.touches(first, sizes))
        place = first, q.shape[-3] if q.ndim > 2 else 1, sizes
        options = cut_before(options, path, self.cut_scores, *place)
        left = cut_before(options, path, self.cut_weights, *place)
        output: torch.Tensor = compute(q, k, v, **left)
        if left is not options:
            output = output * share_left(q, k, v, options, left)
        return options, output

    def _once_more(
        self,
        path: str,
        compute: Any,
        position: Position,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        options: dict[str, Any],
    ) -> torch.Tensor:
        """A call that is computed again on the way back, changed as before; its gradient is that of the first time."""
        options, output = self._cut(path, compute, _Given(q, k, v, _first(position, None)), options)
        found = self._first_time(path, q)
        if found is None:  # of a layer that is not kept
            return replaced(output, path, path, self.ablate, position.real)
        name, layer, part = found
        changed = replaced(output, path, name, self.ablate, position.real)
        if self.gradients and changed.requires_grad and not part.hooked:
            changed.register_hook(functools.partial(layer.take_gradient, part, self.keep))
        return changed

    def _first_time(self, path: str, q: torch.Tensor) -> tuple[str, Layer, Part] | None:
        """What was kept of the call that is computed again: the same queries; of several the last without gradient."""
        wanted = to_numpy(q.detach().reshape((1,) * (4 - q.ndim) + q.shape).cpu())
        alike = [
            (name, layer, part)
            for forward in reversed(self.forwards)
            for name, layer in forward.layers.items()
            if name.partition(":")[0] == path
            for part in reversed(layer.parts)
            if part.q.shape == wanted.shape and np.array_equal(np.asarray(part.q), wanted)
        ]
        return next((found for found in alike if found[2].gradient is None), alike[0] if alike else None)

    def _place(self, path: str, position: Position, k: torch.Tensor) -> tuple[str, Forward]:
        """What a call of a layer is called, and the forward that it belongs to."""
        if self.stream is not None and path not in self.arrived:
            self.stream.facts.called.append(path)
        self.arrived[path] += 1
        use = self.uses[path]
        self.uses[path] += 1
        name = path if use == 0 else f"{path}:{use}"
        return name, self._forward(name, position, k.reshape((1,) * (4 - k.ndim) + k.shape))

    def record(
        self,
        path: str,
        name: str,
        forward: Forward,
        position: Position,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        options: dict[str, Any],
    ) -> None:
        """One call of attention of one layer."""
        q, k, v = (x if x.ndim == 4 else x.reshape((1,) * (4 - x.ndim) + x.shape) for x in (q, k, v))
        layer = forward.layers.get(name)
        mask, bias = settled(options, q.shape[-2], k.shape[-2])
        if layer is None:
            layer = forward.layers[name] = _begun(position, options, is_wanted(path, self.layers), forward.over)
            if position.grows and sum(other.grows for other in forward.layers.values()) == 1:
                layer.whole = k[..., :0, :].detach()  # of one layer all keys are compared, and the last of the others
        layer.add(position, q, k, v if self.values else None, mask, bias, self.keep)

    def _forward(self, name: str, position: Position, k: torch.Tensor) -> Forward:
        """The forward that a call belongs to: the last one if its layer is new there or goes on, else a new one."""
        last = self.forwards[-1] if self.forwards else None
        layer = None if last is None else last.layers.get(name)
        if last is not None and layer is not None:
            if layer.goes_on(position, k):
                if not layer.remembers(position, k):
                    raise NotImplementedError(
                        f"the keys that {name} saw in earlier steps are others now, as in beam search, where a beam "
                        "takes over the past of another; trace one sequence of steps: generate(..., num_beams=1)"
                    )
                if last.stepped != self.number:
                    self._more_ids(last, position)
                last.stepped = self.number
                return last
            same = not position.grows and last.stepped == self.number and layer.length == k.shape[-2]
            if same and layer.last_key is not None and torch.equal(layer.last_key, k[..., -1, :]):
                return last
            last = None
        if last is None:
            last = Forward(over=spread_over())
            self.forwards.append(last)
        self._take_ids(last)
        return last

    def _take_ids(self, forward: Forward) -> None:
        if "source" in self.given:
            forward.source_ids = self.given.pop("source")
        if "own" in self.given:
            forward.ids = self.given.pop("own")
        if self.images is not None:
            forward.images, self.images = self.images, None

    def _more_ids(self, forward: Forward, position: Position) -> None:
        """The ids of the steps that were added, after those of the positions before."""
        ids = self.given.pop("own", None)
        self.given.pop("source", None)
        if forward.ids is not None and ids is not None and forward.ids.shape[-1] >= position.first_query:
            forward.ids = np.concatenate([forward.ids[:, : position.first_query], ids], axis=-1)
        else:
            forward.ids = None


def _first(position: Position, layer: Layer | None) -> tuple[int, int]:
    """The positions of the first query and key of a call, whose layer has perhaps been called in earlier steps."""
    if position.grows:
        return position.first_query, position.first_key
    return (0 if layer is None else layer.asked), 0  # queries go on, as where a decoder looks at what was read once


def _begun(position: Position, options: dict[str, Any], kept: bool, over: Spread | None) -> Layer:
    """A layer of which nothing is kept yet."""
    sinks = options.get("sinks")
    numbers = None if sinks is None else np.array(to_numpy(sinks.detach().float().cpu()))
    first_query, first_key = (position.first_query, position.first_key) if position.grows else (0, 0)
    scale, softcap = options.get("scale"), options.get("softcap")
    begun = position.grows, first_query, first_key, scale, softcap, numbers, kept
    if over is None:
        return Layer(*begun, length=first_key)
    from clearhead.traces.spread import SpreadLayer

    return SpreadLayer(*begun, over=over)


def _ids(
    module: nn.Module, model: nn.Module, arguments: tuple[Any, ...], named: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """The ids that a call of a model came with: those that its encoder reads, and its own."""
    first = arguments[0] if arguments else None
    ids = named.get("input_ids", first)
    target = named.get("decoder_input_ids")
    found: dict[str, np.ndarray] = {}
    two_stacks = bool(getattr(getattr(model, "config", None), "is_encoder_decoder", False))
    for name, value in (("source" if two_stacks else "own", ids), ("own", target)):
        if isinstance(value, torch.Tensor) and value.ndim == 2 and not value.is_floating_point():
            found[name] = to_numpy(value.detach().cpu()).astype(np.int64)
    return found
