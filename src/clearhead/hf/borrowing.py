"""A model of transformers run by another attention for a while, and by its own again afterwards.

Which attention a module calls stands in its config, and one config may be that of several models, called from several
threads. So the modules of a borrowed model get a copy of their config, which answers by who asks: the threads that the
model was borrowed for read "clearhead", all others what stood there before.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel

from clearhead.hf.interface import NAME, told

FIELD = "_attn_implementation_internal"  # where transformers keeps the name of a config's attention
EVERY_THREAD = 0


@dataclass(eq=False)
class Loan:
    """What a lent config answers: what it is the copy of, its own attention, and the threads it was lent to."""

    original: PreTrainedConfig
    implementation: Any
    threads: list[int] = field(default_factory=list)

    def answer(self) -> Any:
        """The attention that whoever asks is to call."""
        lent = EVERY_THREAD in self.threads or threading.get_ident() in self.threads
        return NAME if lent else self.implementation


@dataclass(eq=False)
class Holder:
    """A module whose config is lent, by so many blocks."""

    module: nn.Module
    original: PreTrainedConfig
    copy: PreTrainedConfig
    blocks: int = 0


_lock = threading.Lock()
_holders: dict[int, Holder] = {}


@contextlib.contextmanager
def borrowed(
    model: nn.Module, *, thread: int = EVERY_THREAD, each: Callable[[nn.Module], object] | None = None
) -> Iterator[None]:
    """Let the attention of a model run on the kernels until the block ends, also where an exception ends it.

    thread: the only thread that it is for; every one unless given. each: called with the module at every call that it
    makes of the interface, from whichever thread. Blocks may be nested and may overlap. What is set in a model's config
    during a block is gone after it.
    """
    modules = list(model.modules())
    telling = () if each is None else (each,)
    with _lock:
        copied: dict[int, Any] = {}  # modules that share a config go on sharing one
        holders = [_lent(module, copied) for module in modules if _has_config(module)]
        loans = {id(loan): loan for holder in holders for loan in _loans(holder.copy)}.values()
        for loan in loans:
            loan.threads.append(thread)
        for module in modules if telling else ():
            told[id(module)] = (*told.get(id(module), ()), *telling)
    try:
        yield
    finally:
        with _lock:
            for loan in loans:
                loan.threads.remove(thread)
            for holder in holders:
                _given_back(holder)
            for module in modules if telling else ():
                left = tuple(other for other in told.pop(id(module)) if other is not each)
                if left:
                    told[id(module)] = left


def on_the_interface(module: nn.Module) -> bool:
    """Whether a module's file calls transformers' attention interface at all; not whether this module does."""
    files = {kind.__module__ for kind in type(module).__mro__} - {PreTrainedModel.__module__}
    return any(hasattr(sys.modules.get(file), "ALL_ATTENTION_FUNCTIONS") for file in files)


def _has_config(module: nn.Module) -> bool:
    return isinstance(vars(module).get("config"), PreTrainedConfig)


def _lent(module: nn.Module, copied: dict[int, Any]) -> Holder:
    """A module with a copy of its config, the one that it has already if it is lent."""
    holder = _holders.get(id(module))
    config: Any = module.config
    if holder is None or config is not holder.copy:
        lent = copy.deepcopy(config, copied)
        for part, original in zip(_parts(lent), _parts(config), strict=True):
            if "_loan" not in vars(part):
                loan = Loan(original, vars(part).pop(FIELD, None))
                kind: Any = type(part)
                part.__class__ = _lent_class(kind)
                vars(part)["_loan"] = loan
        holder = _holders[id(module)] = Holder(module, config, lent)
        vars(module)["config"] = lent
    holder.blocks += 1
    return holder


def _given_back(holder: Holder) -> None:
    """The last block to end puts a module's config back, unless somebody gave it another meanwhile."""
    holder.blocks -= 1
    if holder.blocks:
        return
    if _holders.get(id(holder.module)) is holder:
        del _holders[id(holder.module)]
    if vars(holder.module).get("config") is holder.copy:
        vars(holder.module)["config"] = holder.original


def _parts(config: PreTrainedConfig) -> list[PreTrainedConfig]:
    """A config and those inside it, in the order in which they stand there."""
    inner = (value for value in vars(config).values() if isinstance(value, PreTrainedConfig))
    return [config, *(part for value in inner for part in _parts(value))]


def _loans(config: PreTrainedConfig) -> Iterable[Loan]:
    return (_loan(part) for part in _parts(config))


def _loan(config: PreTrainedConfig) -> Loan:
    """The loan of a lent config. Every layer asks for it, and a config's own way to its attributes is slow."""
    loan: Loan = object.__getattribute__(config, "__dict__")["_loan"]
    return loan


@functools.cache
def _lent_class(kind: type[PreTrainedConfig]) -> type[PreTrainedConfig]:
    """The class of a config, with an attention by thread, and copies that are plain again."""

    def answer(config: PreTrainedConfig) -> Any:
        return _loan(config).answer()

    def change(config: PreTrainedConfig, value: Any) -> None:
        _loan(config).implementation = value

    def reduced(config: PreTrainedConfig, protocol: Any) -> tuple[Any, ...]:
        return copy.deepcopy, (_loan(config).original,)

    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    body = {**names, FIELD: property(answer, change), "__reduce_ex__": reduced}
    return type(kind.__name__, (kind,), body)
