"""Run a torch model that knows nothing of clearhead on its kernels, for as long as a `with` block lasts.

    with swapped():            # whatever this thread calls
        model(x)
    with swapped(model) as swap:  # whatever this model calls, from whichever thread
        model(x)
    swap.calls                 # how many calls of attention ran on the kernels

No function of torch is overwritten. torch lets a mode see every function of its own that a thread calls; this one
answers scaled_dot_product_attention, by whatever name it was imported, and the function behind nn.MultiheadAttention,
and lets all others pass. While there is such a mode, torch's fused paths for inference step aside by themselves. It
costs a few microseconds per torch call.

Models of transformers ask a table which attention to call. Named to `swapped`, they are told to call this one,
whichever they call otherwise, and that costs nothing: only modules inside them that call torch's attention themselves
get a mode.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from clearhead import checks
from clearhead.torch.function import has_kernels
from clearhead.torch.multi_head import multi_head_attention_forward
from clearhead.torch.sdpa import scaled_dot_product_attention

STAND_INS: dict[Callable[..., Any], Callable[..., Any]] = {
    functional.scaled_dot_product_attention: scaled_dot_product_attention,
    functional.multi_head_attention_forward: multi_head_attention_forward,
}


class NothingSwapped(UserWarning):
    """A block ended, and no call of attention had come by."""


class Swap:
    """One block of `swapped`. calls: how many calls of attention it has taken over so far."""

    def __init__(self) -> None:
        self.calls = 0

    def __repr__(self) -> str:
        return f"<Swap: {self.calls} call{'s' * (self.calls != 1)} of attention on clearhead's kernels>"


@contextlib.contextmanager
def swapped(*models: nn.Module) -> Iterator[Swap]:
    """Let torch's attention run on clearhead's kernels inside the block; afterwards all is as it was.

    Without arguments, everything the current thread calls in the block; other threads are not concerned. With models,
    everything these models call, whichever thread calls them, and nothing else. Blocks may be nested, and may overlap
    with those of other threads; an exception ends a block like any other end. What was recorded for gradients in the
    block stays on the kernels. Nested tensors are left to torch, and so are those on other devices than the CPU.

    Gives a `Swap`, whose `calls` counts what ran on the kernels. A block that ends without one warns: a model whose
    attention is code of its own calls no function that could be taken over. Models of transformers are swapped
    whichever attention they call if they are named; in a block without models, only if that is "sdpa".

    Raises:
        TypeError: an argument is not an nn.Module, or one that torch runs without Python.
    """
    for model in models:
        _check(model)
    swap = Swap()
    with contextlib.ExitStack() as until_the_end:
        if not models:
            until_the_end.enter_context(_Kernels((swap,)))
        asking = [model for model in models if _asks_a_table(model)]
        for model in asking:
            until_the_end.enter_context(_told_to_call_ours(model, swap))
        for module in _parts(models, asking):
            until_the_end.enter_context(_redirected(module, swap))
        yield swap
    if not swap.calls:
        checks.warn(f"swapped took over no call of attention: {_why_none(models)}", NothingSwapped)


def _why_none(models: Iterable[nn.Module]) -> str:
    """What keeps attention from being taken over, as far as can be told."""
    for model in models:
        elsewhere = next((x.device for x in model.parameters() if not has_kernels(x.device)), None)
        if elsewhere is not None:
            return (
                f"this {type(model).__name__} is on {elsewhere}, and the kernels read tensors on the CPU; model.cpu() "
                "brings it there"
            )
        way = getattr(getattr(model, "config", None), "_attn_implementation", "sdpa")
        if way != "sdpa" and not _asks_a_table(model):
            return (
                f"this {type(model).__name__} computes it with code of its own, {way!r}; "
                "model.set_attn_implementation('sdpa') makes it call torch's if it can"
            )
    return (
        "nothing in the block called torch's scaled_dot_product_attention or nn.MultiheadAttention (the model is to be "
        "called inside the block; in a block without models, one of transformers needs "
        "model.set_attn_implementation('sdpa'), while swapped(model) takes it as it is)"
    )


def _asks_a_table(model: nn.Module) -> bool:
    """Whether a model is one of transformers that asks which attention to call, and lies where the kernels are."""
    if "transformers" not in sys.modules or not _hf().on_the_interface(model):
        return False
    return all(has_kernels(x.device) for x in model.parameters())


def _told_to_call_ours(model: nn.Module, swap: Swap) -> contextlib.AbstractContextManager[None]:
    def count(_: nn.Module) -> None:
        with _lock:
            swap.calls += 1

    there: contextlib.AbstractContextManager[None] = _hf().borrowed(model, each=count)
    return there


def _hf() -> Any:
    """The room that knows transformers. It lies below this one, and is asked for only where transformers is loaded."""
    return importlib.import_module("clearhead.hf")


class _Here(threading.local):
    """The blocks whose calls this thread is in; there is a mode if there is one."""

    swaps: tuple[Swap, ...] = ()


_here = _Here()
_lock = threading.Lock()


@torch.compiler.disable(reason="counting is not part of the model")
def _count() -> None:
    with _lock:
        for swap in _here.swaps:
            swap.calls += 1


class _Kernels(TorchFunctionMode):
    """While it is active in a thread, torch's attention functions are answered by their stand-ins, and counted."""

    def __init__(self, swaps: tuple[Swap, ...]) -> None:
        super().__init__()
        self.swaps = swaps

    def __enter__(self) -> _Kernels:
        super().__enter__()
        self.before, _here.swaps = _here.swaps, _here.swaps + self.swaps
        return self

    def __exit__(self, *error: Any) -> None:
        _here.swaps = self.before
        super().__exit__(*error)

    def __torch_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        stand_in = STAND_INS.get(func)
        if stand_in is None or _is_torchs(args, kwargs):
            return func(*args, **kwargs)
        _count()
        return stand_in(*args, **kwargs)


class _Forward:
    """A module's `forward`, in a mode of its own. It lies on the module, beside the class's method and before it."""

    def __init__(self, module: nn.Module) -> None:
        functools.update_wrapper(self, module.forward)
        self.module, self.forward = module, module.forward
        self.own = vars(module).get("forward")  # as a rule a module has none and its class does
        self.swaps: tuple[Swap, ...] = ()  # that want it; with none left it may still be called by whoever holds it

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        new = tuple(swap for swap in self.swaps if swap not in _here.swaps)
        if not new:  # one mode is enough for all that lies below
            return self.forward(*args, **kwargs)
        with _Kernels(new):
            return self.forward(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy of the module, pickled or deep, gets its own plain method instead."""
        return getattr, (self.module, "forward")


@contextlib.contextmanager
def _redirected(module: nn.Module, swap: Swap) -> Iterator[None]:
    """Put a _Forward on the module, or join the one that is there; the last block to end takes it away."""
    with _lock:
        own = vars(module).get("forward")
        wrapper = own if isinstance(own, _Forward) else _Forward(module)
        wrapper.swaps += (swap,)
        module.forward = wrapper
    try:
        yield
    finally:
        with _lock:
            wrapper.swaps = tuple(other for other in wrapper.swaps if other is not swap)
            if not wrapper.swaps and vars(module).get("forward") is wrapper:
                del module.forward
                if wrapper.own is not None:
                    module.forward = wrapper.own


def _parts(models: Iterable[nn.Module], asking: Iterable[nn.Module]) -> list[nn.Module]:
    """The modules that need a mode: the models and those parts of them that have parts, as `generate`, for one, calls
    an encoder without its model. Of models that ask a table, only those that call torch's attention themselves.
    """
    asked = {id(m) for model in asking for m in model.modules() if not _calls_torchs(m)}
    found = {
        id(m): m
        for model in models
        for m in model.modules()
        if id(m) not in asked and (m is model or next(m.children(), None) is not None or _calls_torchs(m))
    }
    return list(found.values())


def _calls_torchs(module: nn.Module) -> bool:
    """Whether a module's own code calls torch's attention, by name."""
    code = getattr(type(module).forward, "__code__", None)
    return isinstance(module, nn.MultiheadAttention) or (code is not None and _named(code))


def _named(code: types.CodeType) -> bool:
    return functional.scaled_dot_product_attention.__name__ in code.co_names


def _check(model: object) -> None:
    if isinstance(model, torch.jit.ScriptModule):
        raise TypeError(
            "swapped cannot reach into a TorchScript module, which calls attention without Python; "
            "pass the nn.Module it was made from"
        )
    if not isinstance(model, nn.Module):
        raise TypeError(
            f"swapped takes models (nn.Module), or nothing for all that this thread calls, got {type(model).__name__} "
            "(the model is called inside the block: with swapped(model): model(x))"
        )


def _is_torchs(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call is left to torch: with a nested tensor, or one that the kernels cannot read."""
    tensors = (x for x in (*args, *kwargs.values()) if isinstance(x, torch.Tensor))
    return any(x.is_nested or not has_kernels(x.device) for x in tensors)
