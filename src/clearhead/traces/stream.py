"""The way from what heads give to the logits, found by watching a model run rather than by the names in it.

    projection     the module whose input is what a layer's attention gave, heads side by side, with what is wrapped
                   around it, as LoRA is
    block          the part of the model with a layer's number, which adds to the stream that runs through all of them
    unembedding    what makes logits of the last norm's output

What goes which way is told by the numbers: a projection is one whose input equals the attention's output, and a layer
adds to the stream what its projection gives if the block's output is its input, plus that, plus what one other module
gave. A gate before the projection, a norm or a factor behind it, or a norm between blocks fail that, and the trace then
knows that a head's part in the logits cannot be read off.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from clearhead.torch.watching import going_back
from clearhead.traces.facts import Facts
from clearhead.traces.norms import Norm, read_norm, stretch
from clearhead.traces.projections import Affine, is_projection, read_affine, wrapped

MOST_ROWS = 16  # of what a projection was given, held to what it gave


@dataclass(eq=False)
class _Block:
    """A block that is being run: what came in, what its layers' projections gave, and what its modules gave."""

    path: str
    entered: torch.Tensor
    follows: bool
    projected: dict[str, torch.Tensor] = field(default_factory=dict)
    given: list[torch.Tensor] = field(default_factory=list)


class _Found(NamedTuple):
    """The projection of a layer that was found last, what it was given and what it gave."""

    layer: str
    path: str
    x: torch.Tensor
    y: torch.Tensor

    def is_inside(self, path: str, x: torch.Tensor, y: torch.Tensor) -> bool:
        return self.path.startswith(f"{path}.") and y.shape == self.y.shape and _same(x, self.x)


class Stream:
    """Watches the modules of a model in one thread; `facts` is what it has found by now."""

    def __init__(self, model: nn.Module) -> None:
        self.model, self.facts = model, Facts()
        self.names = {id(module): name for name, module in model.named_modules()}
        self.thread, self.asleep = threading.get_ident(), False
        self.attended: dict[str, torch.Tensor] = {}  # what attention gave, until its projection has come
        self.found: _Found | None = None
        self.block: _Block | None = None
        self.judged: set[str] = set()
        self.stream: torch.Tensor | None = None  # what the last block gave
        self.last_norm: tuple[str, torch.Tensor, torch.Tensor] | None = None
        self.norm: Norm | None = None
        self.scales: np.ndarray | None = None  # (b, n), of the call of the model that is under way
        output = getattr(model, "get_output_embeddings", lambda: None)()
        self.unembedding = None if output is None else self.names.get(id(output))

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Until the block ends."""
        handles = []
        try:
            for module in self.model.modules():
                handles.append(module.register_forward_pre_hook(self._entered, with_kwargs=True))
                handles.append(module.register_forward_hook(self._left, with_kwargs=True))
            yield
        finally:
            for handle in handles:
                handle.remove()
            self.attended.clear()
            self.block = self.stream = self.last_norm = self.found = None

    def gave(self, path: str, output: torch.Tensor) -> None:
        """What the attention of a layer gave: (b, h, n_q, d_v)"""
        if path not in self.facts.projections or _block_of(path) not in self.judged:
            self.attended[path] = output.detach().transpose(-3, -2).flatten(-2)

    def taken_scales(self) -> np.ndarray | None:
        """By how much the last norm stretched each position in the call of the model that has just ended, once."""
        scales, self.scales = self.scales, None
        return scales

    def _sleeps(self) -> bool:
        return self.asleep or threading.get_ident() != self.thread or going_back()

    def _entered(self, module: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        if self._sleeps():
            return
        path = self.names[id(module)]
        if _is_block(path) and path not in self.judged:
            x = _first([*arguments, *named.values()])
            if x is not None:
                first = path.rpartition(".")[2] == "0"
                self.block = _Block(path, x, first or (self.stream is not None and _same(self.stream, x)))

    def _left(self, module: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any], output: Any) -> None:
        if self._sleeps():
            return
        path, x, y = self.names[id(module)], _first([*arguments, *named.values()]), _first([output])
        if x is None or y is None:
            return
        if self.attended and is_projection(module):
            self._find_layer(path, x, y)
        elif self.found is not None and self.found.is_inside(path, x, y):
            self._find_wrapped(path, module, len(arguments) + len(named), y)
        if self.block is not None and path.startswith(f"{self.block.path}.") and y.shape == self.block.entered.shape:
            self.block.given.append(y)
        if _is_block(path):
            self._judge(path, y)
        elif "norm" in type(module).__name__.lower() and _block_of(path) is None:
            self.last_norm = path, x, y
        if path == self.unembedding:
            self._judge_norm(x)

    def _find_layer(self, path: str, x: torch.Tensor, y: torch.Tensor) -> None:
        """Which layer's attention a projection is given."""
        for layer, attended in list(self.attended.items()):
            if _same(attended, x):
                self.facts.projections[layer] = path
                del self.attended[layer]
                self.found = _Found(layer, path, x, y)
                if self.block is not None:
                    self.block.projected[layer] = y.detach()

    def _find_wrapped(self, path: str, module: nn.Module, given: int, y: torch.Tensor) -> None:
        """What is around a projection, given the same and giving something else, is the projection, if it is one."""
        assert self.found is not None
        layer, inner, x, plain = self.found
        if given != 1 or _same(plain, y):  # what is given more than that is not around it but behind it
            return
        self.asleep = True
        try:
            read = read_affine(module, x.shape[-1])
        finally:
            self.asleep = False
        if read is not None and _is_product(y, x, read):
            self.facts.projections[layer] = path
            self.found = _Found(layer, path, x, y)
            if self.block is not None:
                self.block.projected[layer] = y.detach()
        elif hasattr(module, "base_layer"):
            self.facts.projections.pop(layer, None)
            self.facts.missing[wrapped(layer)] = (
                f"{path}, a {type(module).__name__}, is around {inner} and does not multiply by one matrix, as where "
                "there is dropout in it (model.eval())"
            )

    def _judge(self, path: str, y: torch.Tensor) -> None:
        """Whether a block adds what its layers' projections gave, and nothing else but what one module gave."""
        self.stream = y.detach()
        block, self.block = self.block, None
        if block is None or block.path != path:
            return
        self.judged.add(path)
        terms = [block.entered, *block.projected.values()]
        adds = _is_sum(y, terms) or any(_is_sum(y, [*terms, given]) for given in block.given)
        for layer in block.projected:
            if adds and block.follows:
                self.facts.added.append(layer)
            else:
                self.facts.missing[layer] = (
                    f"{path} does not add to its input just what the output projection of {layer} gives: there is a "
                    "norm, a factor or a gate behind it, or the stream is normed between blocks"
                )

    def _judge_norm(self, x: torch.Tensor) -> None:
        """The norm whose output the unembedding is given, and by how much it stretches every position."""
        missing = "unembedding"
        if self.last_norm is None or self.stream is None:
            self.facts.missing[missing] = "no norm was called before the unembedding"
            return
        path, before, after = self.last_norm
        if not _same(after[:, -x.shape[1] :], x) or not _same(before, self.stream):
            self.facts.missing[missing] = (
                f"between the last block, {path} and {self.unembedding} something is changed, such as by a factor"
            )
            return
        if self.norm is None:
            self.asleep = True
            try:
                self.norm = read_norm(self.model.get_submodule(path), x)
            finally:
                self.asleep = False
        scales = None if self.norm is None else stretch(self.norm, before, after)
        if scales is None:
            self.facts.missing[missing] = f"{path} is neither a layer norm nor an RMS norm"
            return
        self.facts.norm, self.facts.unembedding, self.scales = path, self.unembedding, scales


def _is_block(path: str) -> bool:
    """Whether a module is one of a numbered stack, and in no other such."""
    return _block_of(path) == path


def _block_of(path: str) -> str | None:
    """The block that a module is in: its path up to the first number."""
    parts = path.split(".")
    place = next((i for i, part in enumerate(parts) if part.isdigit()), None)
    return None if place is None else ".".join(parts[: place + 1])


def _first(values: list[Any]) -> torch.Tensor | None:
    """The first tensor of floats with positions and columns among some values, or in the tuples that they are."""
    for value in values:
        if isinstance(value, torch.Tensor) and value.is_floating_point() and value.ndim > 1:
            return value.detach()
        if isinstance(value, (tuple, list)) and (found := _first(list(value))) is not None:
            return found
    return None


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and bool(torch.equal(a, b))


def _is_product(y: torch.Tensor, x: torch.Tensor, read: Affine) -> bool:
    """Whether a module gave what its matrix makes of its input, but for rounding."""
    rows = slice(0, MOST_ROWS)
    given, got = (z.detach().reshape(-1, z.shape[-1])[rows].double().cpu().numpy() for z in (x, y))
    size = np.abs(given) @ np.abs(read.matrix) + np.abs(read.bias)
    return bool((np.abs(given @ read.matrix + read.bias - got) <= 8 * torch.finfo(y.dtype).eps * size).all())


def _is_sum(y: torch.Tensor, terms: list[torch.Tensor]) -> bool:
    """Whether each number of y is the sum of the terms' but for its own rounding, whatever the largest of them is."""
    if any(term.shape != y.shape for term in terms):
        return False
    parts = [term.double() for term in terms]
    wrong = (y.double() - torch.stack(parts).sum(0)).abs()
    size = torch.stack([part.abs() for part in parts]).sum(0)
    return bool((wrong <= 4 * torch.finfo(y.dtype).eps * size).all())
