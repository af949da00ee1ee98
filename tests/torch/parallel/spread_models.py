"""Small models of transformers, their sequence spread over ranks, beside the same in one process."""

from __future__ import annotations

import copy
import functools
from typing import Any

import numpy as np
import torch
from tests.hf.models import made
from tests.torch.parallel.ranks import groups

from clearhead import hf
from clearhead.torch import parallel

N = 23
PADDING = {"none": (0, 0), "right": (0, 4), "left": (3, 0)}  # of the second of two sequences


@functools.cache
def model_of(name: str) -> Any:
    """In float64, so that a difference is a mistake; torch multiplies the experts of gpt_oss in float32 at most."""
    model = copy.deepcopy(made(name)).eval()
    if name == "bert":
        model.pooler = None  # it would pool each rank's own, and is refused
    return model if name == "gpt_oss" else model.double()


def inputs(padding: str, n: int = N) -> dict[str, torch.Tensor]:
    ids = torch.randint(5, 90, (2, n), generator=torch.Generator().manual_seed(4))
    if padding == "none":
        return {"input_ids": ids}
    before, after = PADDING[padding]
    real = torch.ones(2, n, dtype=torch.int64)
    real[1, :before] = 0
    real[1, n - after :] = 0
    return {"input_ids": ids * real, "attention_mask": real}


def inputs_of(name: str, padding: str) -> dict[str, torch.Tensor]:
    """With the positions, for a model that would count them by the mask."""
    given = inputs(padding)
    if name == "opt":
        given["position_ids"] = (given["attention_mask"].cumsum(-1) - 1).clamp(min=0)
    return given


def numbers(output: Any) -> torch.Tensor:
    found: torch.Tensor = output["logits"] if "logits" in output else output["last_hidden_state"]
    return found


def spread(name: str, ranks: int, padding: str, layout: str, split: str) -> np.ndarray:
    """The whole, put together from each rank's rows."""
    model = model_of(name)
    group = groups[ranks]
    with torch.no_grad(), hf.borrowed(model), parallel.context(group, model=model, layout=layout, split=split):
        own = numbers(model(**inputs_of(name, padding)))
    return parallel.gather(own, group=group, layout=layout, dim=-2).numpy()


def alone(name: str, padding: str, *, eager: bool) -> np.ndarray:
    """By eager attention in float32: in float64 it takes NaN from padding before a sequence."""
    if eager:
        with torch.no_grad():
            return numbers(made(name)(**inputs(padding))).numpy()
    model = model_of(name)
    with torch.no_grad(), hf.borrowed(model):
        return numbers(model(**inputs(padding))).numpy()


def gradients(ranks: int) -> dict[str, np.ndarray]:
    """Of every parameter, added up over ranks, for a loss over next tokens."""
    model = copy.deepcopy(model_of("llama"))
    group, ids = groups[ranks], inputs("none")["input_ids"]
    following = parallel.shard(ids.roll(-1, dims=-1), group=group, layout="zigzag", dim=-1)
    with hf.borrowed(model), parallel.context(group, model=model, layout="zigzag"):
        loss(model(ids).logits, following).backward()
    for parameter in model.parameters():
        torch.distributed.all_reduce(parameter.grad, group=group)
    return {name: x.grad.numpy() for name, x in model.named_parameters()}


def loss(logits: torch.Tensor, following: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = torch.nn.functional.cross_entropy(logits.flatten(0, 1), following.flatten(), reduction="sum")
    return found


def gradients_alone() -> dict[str, np.ndarray]:
    model = copy.deepcopy(model_of("llama"))
    ids = inputs("none")["input_ids"]
    with hf.borrowed(model):
        loss(model(ids).logits, ids.roll(-1, dims=-1)).backward()
    return {name: x.grad.numpy() for name, x in model.named_parameters()}


def other_ids() -> Any:
    """Ranks that do not pass the same."""
    model, given = model_of("llama"), inputs("none")
    if torch.distributed.get_rank() == 2:
        given = inputs("none", N + 1)
    with hf.borrowed(model), parallel.context(groups[4], model=model):
        return model(**given)
