"""The rules that transformers makes masks of, read as masks that know their runs of keys.

A model says what may be attended with functions of (batch, head, query, key), joined by `and_masks` and `or_masks`.
What is built of transformers' own functions is recognised by their names and by what they hold, and becomes a mask in
O(n) memory. Whether a function still means what it is read as is tried out once on a few places; what is not
recognised, a rule of the model's own or of another version, is asked for the answer, a strip of queries at a time.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
from transformers import masking_utils

from clearhead import masks
from clearhead.hf.places import Place, SameGroup
from clearhead.masks.kinds import UNLIMITED
from clearhead.tensors import to_numpy
from clearhead.torch.padding import both, real_run

Rule = Callable[..., Any]
Held = dict[str, Any]  # what a rule holds on to, by name


def read(rule: Rule, place: Place, *, index_by_index: bool = False) -> masks.Mask | None:
    """A rule as a mask of the call at `place`; None allows everything.

    index_by_index: a rule that is not recognised takes single numbers, not arrays of them.
    """
    name, held = name_of(rule)
    if name == "and_masks":
        parts = [read(part, place, index_by_index=index_by_index) for part in held["mask_functions"]]
        return functools.reduce(both, parts, None)
    if name == "or_masks":
        parts = [read(part, place, index_by_index=index_by_index) for part in held["mask_functions"]]
        return None if None in parts else functools.reduce(lambda a, b: a | b, [x for x in parts if x is not None])
    if name == "add_offsets_to_mask_function":
        moved = place._replace(
            first_query=place.first_query + held["q_offset"], first_key=place.first_key + held["kv_offset"]
        )
        return read(held["mask_function"], moved, index_by_index=index_by_index)
    if name in recognised():
        return READERS[name](held, place)
    return Asked(rule, place, index_by_index)


def looks_back(rule: Rule) -> bool:
    """Whether a rule has causality in it, as those of sequences that go on have."""
    name, held = name_of(rule)
    if name in ("and_masks", "or_masks"):
        return any(looks_back(part) for part in held["mask_functions"])
    return (
        looks_back(held["mask_function"]) if name == "add_offsets_to_mask_function" else name == "causal_mask_function"
    )


def name_of(rule: Rule) -> tuple[str | None, Held]:
    """Which function of transformers made this rule, and what the rule holds; None for one of somebody else."""
    if rule is masking_utils.causal_mask_function:
        return "causal_mask_function", {}
    if getattr(rule, "__module__", None) != masking_utils.__name__ or not inspect.isfunction(rule):
        return None, {}
    cells = zip(rule.__code__.co_freevars, rule.__closure__ or (), strict=True)
    return rule.__qualname__.split(".")[0], {name: cell.cell_contents for name, cell in cells}


def _causal(held: Held, place: Place) -> masks.Mask | None:
    """Query at p sees keys at positions up to p."""
    if place.n_k - 1 + place.first_key <= place.first_query:  # one query that is the last position, as in decoding
        return None
    return causal_from(place.offset)


@functools.lru_cache(maxsize=256)
def causal_from(offset: int | None) -> masks.Mask:
    """Query i sees keys up to i + offset: for the same offset the same object, by which a known call is found."""
    return masks.causal(offset=offset)


def _everything(held: Held, place: Place) -> masks.Mask | None:
    return None


def _looking_back(held: Held, place: Place) -> masks.Mask | None:
    """Keys less than so many positions before the query, and any after it."""
    reach = held["sliding_window"]
    if place.first_query + place.n_q - 1 - reach < place.first_key:  # no key is that far away
        return None
    if reach < 1:  # not even its own
        return ~masks.causal(offset=place.first_query - place.first_key - reach)
    return masks.window(reach - 1, UNLIMITED, offset=place.offset)


def _both_ways(held: Held, place: Place) -> masks.Mask | None:
    return masks.window(held["sliding_window"], held["sliding_window"], offset=place.offset)


def _chunks(held: Held, place: Place) -> masks.Mask | None:
    """Pieces of the sequence of one size, counted from its first token that is no padding."""
    padding = _array(held["left_padding"])[:, None]
    of_queries, of_keys = ((x - padding) // held["chunk_size"] for x in (place.queries, place.keys))
    least = min(of_queries.min(initial=0), of_keys.min(initial=0))  # padding counts backwards
    return SameGroup(of_queries - least, of_keys - least)


def _blocks(held: Held, place: Place) -> masks.Mask | None:
    ids = _array(held["block_sequence_ids"])
    return SameGroup(ids[:, place.queries], ids[:, place.keys])


def _packed(held: Held, place: Place) -> masks.Mask | None:
    ids = _array(held["packed_sequence_mask"])
    least = ids.min(initial=0)
    return SameGroup(ids[:, place.queries] - least, ids[:, place.keys] - least)


def _padding(held: Held, place: Place) -> masks.Mask | None:
    return real_run(_array(held["padding_mask"])[:, place.keys].astype(np.bool_))


READERS: dict[str, Callable[[Held, Place], masks.Mask | None]] = {
    "causal_mask_function": _causal,
    "bidirectional_mask_function": _everything,
    "sliding_window_overlay": _looking_back,
    "sliding_window_bidirectional_overlay": _both_ways,
    "chunked_overlay": _chunks,
    "blockwise_overlay": _blocks,
    "packed_sequence_mask_function": _packed,
    "padding_mask_function": _padding,
}


def _array(tensor: torch.Tensor) -> np.ndarray:
    return to_numpy(tensor.cpu())


@dataclass(frozen=True, eq=False)
class Asked(masks.Mask):
    """A rule that nothing is known of: it is asked about each place. Like transformers, about one head for all."""

    rule: Rule
    place: Place
    index_by_index: bool

    def __repr__(self) -> str:
        return f"Asked({getattr(self.rule, '__qualname__', repr(self.rule))})"

    def allows(self, at: masks.Where) -> np.ndarray:
        given = (
            at.batch,
            np.zeros((1, 1, 1), np.int64),
            at.query + self.place.first_query,
            at.key + self.place.first_key,
        )
        batch, head, query, key = (torch.from_numpy(np.ascontiguousarray(x)) for x in given)
        if not self.index_by_index:
            return to_numpy(self.rule(batch, head, query, key))
        batch, head, query, key = torch.broadcast_tensors(batch, head, query, key)
        with TransformGetItemToIndex():  # a rule may look a tensor up at an index, which vmap alone refuses
            answer = torch.vmap(self.rule)(*(x.reshape(-1) for x in (batch, head, query, key)))
        return to_numpy(answer.reshape(batch.shape))


@functools.cache
def recognised() -> frozenset[str]:
    """The names of READERS that this version of transformers means as they are read here, tried out on a few places."""
    place = Place(7, 9, first_query=3, first_key=1)
    groups = torch.tensor([[-1, 0, 0, -1, 1, 1, 1, -1, 2, 2, -1], [0, 0, 1, 1, 1, 1, 2, 3, 3, 3, 4]])
    holding = {
        "sliding_window_overlay": (3,),
        "sliding_window_bidirectional_overlay": (2,),
        "chunked_overlay": (3, torch.tensor([0, 2])),
        "blockwise_overlay": (groups,),
        "packed_sequence_mask_function": (groups.abs().cummax(-1).values,),
        "padding_mask_function": (groups > 0,),
    }
    found = set()
    for name, reader in READERS.items():
        made = getattr(masking_utils, name, None)
        if made is None:
            continue
        try:
            rule = made(*holding[name]) if name in holding else made
            told, held = name_of(rule)
            mask = reader(held, place) if told == name else Asked(rule, place, False)
            means = np.ones(1, np.bool_) if mask is None else mask.array(7, 9, batch_shape=(2,), heads=1)
            asked = Asked(rule, place, False).array(7, 9, batch_shape=(2,), heads=1)
        except (KeyError, TypeError):  # another version holds something else, or takes other arguments
            continue
        if told == name and (means == asked).all():
            found.add(name)
    return frozenset(found)
