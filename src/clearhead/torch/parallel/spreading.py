"""A model of transformers whose sequence is spread over ranks.

Where everything in a model but attention works on one position at a time, each rank can run it on its own; other models
are refused. What the model is called with is cut on the way in; masks speak of the whole; attention goes over ranks.
"""

from __future__ import annotations

import contextlib
import inspect
import threading
from collections.abc import Iterator
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from clearhead import checks
from clearhead.torch.parallel.agreeing import gathered, member, must_agree, told
from clearhead.torch.parallel.function import attention
from clearhead.torch.parallel.joint import SPLITS, digest
from clearhead.torch.parallel.layouts import LAYOUTS, positions, shard
from clearhead.torch.parallel.refusing import CUT, NAME, refuse
from clearhead.torch.watching import Position, Spread, spread, watched

OPTIONS = ("mask", "scale", "softcap", "sinks")  # of a layer's attention, besides dropout


@contextlib.contextmanager
def context(
    group: dist.ProcessGroup | None = None,
    *,
    model: nn.Module,
    layout: str = "contiguous",
    split: str = "queries",
) -> Iterator[None]:
    """Run a model with its sequence spread over a group, until the block ends.

        with parallel.context(group, model=model):
            logits = model(**inputs).logits         # of this rank's positions: parallel.positions(n) says which

    Every rank has the model, on `clearhead` attention, and calls it with the same arguments, whole, as on one machine.
    Each then works on its own positions, and gets its rows of whatever the model gives; `gather` puts them together
    (dim=-2). Positions and masks, padding and windows too, are those of the whole. Cut are input_ids, inputs_embeds,
    position_ids and token_type_ids.

    group, layout and split are those of `attention`. Gradients are those of the sum of all ranks' losses, and each rank
    has its own positions' share of a parameter's: add them up over the group.

    Raises:
        ValueError: at a call: the model's attention is another, arguments are not the same on every rank, or there are
            fewer positions than runs to cut them into.
        NotImplementedError: at a call: with a cache, labels, a mask that is not (b, n), packed sequences,
            logits_to_keep, gradient checkpointing or a bias; of a model that gives one answer for the sequence (a
            classifier, a pooler), with two stacks, convolutions, recurrence (Mamba, linear attention) or attention to
            chosen or compressed keys, with rotary embeddings that depend on the length ("dynamic", "longrope"), or that
            scales embeddings (ESM's token_dropout) or queries (Llama 4, from position 8,192 on) by the whole; and,
            unless position_ids are given, of one that counts positions by tokens (RoBERTa), or by a mask that has
            padding (OPT).
    """
    member(group)
    checks.choice("layout", layout, LAYOUTS)
    checks.choice("split", split, SPLITS)
    spreading = _Spreading(model, group, layout, split)
    hooks = [
        model.register_forward_pre_hook(spreading.enter, with_kwargs=True, prepend=True),
        model.register_forward_hook(spreading.leave, always_call=True),
    ]
    try:
        with watched(spreading.attend, innermost=True):
            yield
    finally:
        for hook in hooks:
            hook.remove()
        spreading.until.close()


class _Spreading:
    """A model in a context: what is done when it is called, at each attention, and when it returns."""

    def __init__(self, model: nn.Module, group: dist.ProcessGroup | None, layout: str, split: str) -> None:
        self.model, self.group, self.layout, self.split = model, group, layout, split
        self.thread = threading.get_ident()
        self.until = contextlib.ExitStack()  # what lasts while the model runs
        self.running = False
        self.rows = 0
        self.calls = 0

    def enter(self, module: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, Any] | None:
        """The arguments that a rank's own positions have."""
        if threading.get_ident() != self.thread:
            return None
        names = inspect.signature(module.forward).parameters
        given = dict(zip(names, arguments, strict=False)) | named
        n = told(self.group, lambda: self._described(names, given))
        must_agree([facts for facts, _ in n])
        whole = n[0][1]
        ids = {name: given[name] for name in ("input_ids",) if given.get(name) is not None}
        self.until.enter_context(spread(Spread(whole, self.group, self.layout, ids)))
        self.running, self.calls = True, 0
        return (), self._cut(names, given, whole)

    def _described(self, names: Any, given: dict[str, Any]) -> tuple[dict[str, Any], int]:
        """What must be the same on all ranks, and how many positions there are; what is wrong is raised here."""
        refuse(self.model, names, given)
        tensors = {name: x for name, x in given.items() if isinstance(x, torch.Tensor)}
        first = "input_ids" if "input_ids" in tensors else "inputs_embeds"
        if first not in tensors:
            raise ValueError(f"a model is called with input_ids or inputs_embeds, got {', '.join(given) or 'neither'}")
        n = tensors[first].shape[CUT[first]]
        runs = dist.get_world_size(self.group) * (2 if self.layout == "zigzag" else 1)
        if n < runs:
            raise ValueError(f"{n} positions cannot be cut into {runs} runs, one for each rank (two if zigzag)")
        return {name: digest(x) for name, x in tensors.items()} | {"arguments": sorted(tensors)}, n

    def _cut(self, names: Any, given: dict[str, Any], n: int) -> dict[str, Any]:
        place: dict[str, Any] = {"group": self.group, "layout": self.layout}
        own = dict(given)
        for name, axis in CUT.items():
            if own.get(name) is not None:
                own[name] = shard(own[name], dim=axis, **place)
        like = own["input_ids"] if own.get("input_ids") is not None else own["inputs_embeds"][..., 0]
        self.rows = like.shape[-1]
        if own.get("position_ids") is None:
            own["position_ids"] = positions(n, **place).to(like.device)[None]
        if own.get("attention_mask") is None:  # without one, positions that are not in a row would be taken for several
            own["attention_mask"] = torch.ones(len(like), n, dtype=torch.int64, device=like.device)
        if "use_cache" in names:
            own["use_cache"] = False
        return own

    def attend(
        self,
        module: nn.Module,
        compute: Any,
        position: Position,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        **options: Any,
    ) -> torch.Tensor:
        """A layer's attention, over the group."""
        if not self.running:
            output: torch.Tensor = compute(q, k, v, **options)
            return output
        if not q.shape[-2] == k.shape[-2] == self.rows:
            raise NotImplementedError(
                f"{type(module).__name__} attends from {q.shape[-2]} queries to {k.shape[-2]} keys, and this rank has "
                f"{self.rows} positions of the sequence; only attention of a sequence to itself is spread"
            )
        for name, x in options.items():
            if x is not None and name not in (*OPTIONS, "dropout", "seed"):
                raise NotImplementedError(
                    f"{type(module).__name__} passes {name}= to its attention, and it is not known how that is spread: "
                    "run this model in one process"
                )
        self.calls += 1
        wanted = {name: options.get(name) for name in OPTIONS}
        if rate := options.get("dropout"):
            wanted |= {"dropout": rate, "seed": gathered(self.group, options.get("seed"))[0]}
        over: Any = attention(q, k, v, group=self.group, layout=self.layout, split=self.split, **wanted)
        return over

    def leave(self, module: nn.Module, arguments: Any, output: Any) -> None:
        if threading.get_ident() != self.thread or not self.running:
            return
        self.until.pop_all().close()
        self.running = False
        if output is not None and not self.calls:
            raise ValueError(
                f"no layer of {type(module).__name__} attended by way of clearhead, so that positions saw those of "
                f"their own rank only (model.set_attn_implementation({NAME!r}), after import clearhead.hf)"
            )
