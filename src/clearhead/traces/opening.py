"""`trace`: a block in which a model is watched."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearhead import checks
from clearhead.masks.kinds import UNLIMITED
from clearhead.textbook.module import Module
from clearhead.traces.ablation import Ablation, checked
from clearhead.traces.edges import Cut, checked_cuts
from clearhead.traces.naming import checked_layers, is_wanted
from clearhead.traces.numpy_models import NumpyRecorder, textbook_model
from clearhead.traces.result import Trace
from clearhead.traces.scratch import Scratch
from clearhead.traces.storing import checked_target, opened
from clearhead.traces.takes import Recorded

if TYPE_CHECKING:
    from torch import nn

    from clearhead.traces.recording import Recorder


@contextlib.contextmanager
def trace(
    model: Any,
    layers: Any = None,
    *,
    top_k: int = 8,
    map_size: int = 512,
    keep: str | Path = "memory",
    ablate: Mapping[Any, Any] | None = None,
    cut_scores: Mapping[Any, Any] | None = None,
    cut_weights: Mapping[Any, Any] | None = None,
    values: bool = False,
    gradients: bool = False,
    slow: bool = False,
) -> Iterator[Trace]:
    """See the attention of every head of a model that is called in the block.

        with ch.trace(model) as trace:
            model(**inputs)                 # or model.generate(...): prompt and steps become one view
        trace[3].weights(head=5, rows=slice(0, 10))

    model: of transformers, on its attention interface, any nn.Module built on `clearhead.torch`, or one of the
    textbook's, or a translator, whose views are there when the block has ended. It gives what it
    gives otherwise, within float noise: its attention runs on the kernels, in this thread, until the block ends. Other
    models and other threads are not concerned. For each layer its queries and keys are kept, in the model's own
    precision, and no n × n numbers; a layer's view is computed from them when it is asked for. A model may be on any
    device: its attention runs there, in torch's operations where there are no kernels, and what is kept of it comes to
    the CPU's memory, where the kernels make the views. None of it has been run on a GPU.

    Args:
        layers: which to keep, by number, by module path or by the beginning of one; all of them unless given.
        top_k, map_size: what the views keep, as in `clearhead.look`.
        keep: "memory", or the path of a file; what is kept goes to a folder beside it as the model runs, and the file
            is there, whole, when the block has ended; `clearhead.load_trace` opens it. It takes room for the file and
            one layer more.
        ablate: heads to take out, {(layer, head): "zero"}, the layer by number or module path; a layer alone is all of
            its heads. What the head adds, before the output projection, becomes zero, its "mean" over the positions
            of each sequence that are no padding, or what it is in another trace, of as many tokens, that kept values.
        cut_scores: edges to cut before the softmax, {(layer, head): (queries, keys)}: those queries cannot look at
            those keys, and their other weights grow to sum to 1 again, as the views show. Queries and keys are
            positions in the model's input, padding included: a number, a slice or a sequence of numbers; a list has
            several pairs.
        cut_weights: edges to cut after the softmax, written likewise: those weights become 0 and the others stay what
            they are, so that a query takes in less. The views show the weights that the softmax gave.
        values: keep values too, and find out where the model's heads lead to: for `ablate` to take heads from, and for
            `Trace.value_norms` and `Trace.attribution`.
        gradients: keep values, and what a backward pass gives for the output of the heads, for `Trace.relevance`: call
            backward on one number, such as a logit, in the block or, where it is kept in memory, after it. A model that
            computes its layers again on the way back (gradient checkpointing) does so in the block.
        slow: of a model that computes its attention with code of its own, take the weights that it writes out itself,
            n × n for every head: for short inputs. The trace says so.

    Raises:
        TypeError: model is not an nn.Module, or layers are neither numbers nor paths.
        ValueError: the model was not called in the block.
        NotImplementedError: the model computes its attention with code of its own, or a beam search was traced.
    """
    checks.count("top_k", top_k, least=0)
    checks.count("map_size", map_size, least=0)
    checked_layers(layers)
    changes: dict[str, Any] = {
        "ablate": checked(ablate),
        "cut_scores": checked_cuts("cut_scores", cut_scores),
        "cut_weights": checked_cuts("cut_weights", cut_weights),
    }
    changed = any(changes.values())
    options = {"top_k": top_k, "map_size": map_size}
    place = None if keep == "memory" else checked_target(keep)
    asked = "gradients" if gradients else "values" if values else None
    if (written_in_numpy := textbook_model(model)) is not None:
        _check_asked(asked, f"{type(written_in_numpy).__name__} is the textbook's, and what it returns are its weights")
        with _returned(model, written_in_numpy, layers, changed, options) as found:
            yield found
        if place is not None:
            found.save(place)
        return
    can_be_watched = _check_model(model, slow)
    if not can_be_watched and changed:
        raise NotImplementedError(
            f"no head can be taken out of {type(model).__name__}, and no edge cut: {_refusal(model)}"
        )
    if not can_be_watched:
        _check_asked(
            asked, f"slow=True takes the weights that {type(model).__name__} writes out itself, and only those"
        )
        with _asked(model, layers, options) as found:
            yield found
        if place is not None:
            found.save(place)
        return
    from clearhead.torch.watching import watched
    from clearhead.traces.recording import Recorder

    with contextlib.ExitStack() as until_the_end:
        scratch = None if place is None else until_the_end.enter_context(Scratch(place))
        keep_in = None if scratch is None else scratch.put
        recorder = Recorder(model, layers, keep_in, values=values, gradients=gradients, **changes)
        takes = _Takes(recorder)
        found = Trace(takes, _about(model), **options)
        if recorder.stream is not None:
            found.facts = recorder.stream.facts
            until_the_end.enter_context(recorder.stream.watching())
        with _hooked(recorder), _on_the_kernels(model), watched(recorder):
            yield found
        _check_arrivals(recorder)
        _check_changes(recorder)
        if gradients and place is not None:
            _check_gradients(recorder, place)
        if place is not None:
            over = found._over()
            identity = found._write(place, scratch)
            takes.stored = opened(place)[0] if identity is None else _opened_together(place, over, identity)


def _opened_together(place: Path, over: Any, identity: str) -> list[Any]:
    """The forwards of a trace in the files that all ranks have written."""
    from clearhead.traces.group_writing import opened_together

    return opened_together(place, over.group, identity)


class _Takes(list[Any]):
    """The forwards of a recorder, as many as there are by now, or those of the file that they were written to."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder
        self.stored: list[Any] | None = None
        self._made: dict[int, Recorded] = {}

    def _all(self) -> list[Any]:
        if self.stored is not None:
            return self.stored
        forwards = [x for x in self.recorder.forwards if any(layer.kept for layer in x.layers.values())]
        return [self._made.setdefault(id(forward), Recorded(forward)) for forward in forwards]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __getitem__(self, place: Any) -> Any:
        return self._all()[place]


def _about(model: nn.Module) -> dict[str, Any]:
    """What a file says of the model it was traced from."""
    config = getattr(model, "config", None)
    return {
        "model": type(model).__name__,
        "name": str(getattr(config, "_name_or_path", "") or ""),
        "type": str(getattr(config, "model_type", "") or ""),
    }


@contextlib.contextmanager
def _returned(model: object, inner: Module, layers: Any, changed: bool, options: dict[str, int]) -> Iterator[Trace]:
    """A trace of the weights that the textbook's layers return."""
    if changed:
        raise NotImplementedError(
            f"no head can be taken out of {type(inner).__name__}, which is the textbook's, and no edge cut"
        )
    recorder = NumpyRecorder(inner, layers)
    takes: list[Any] = []
    with recorder.watching():
        yield Trace(takes, {"model": type(model).__name__, "name": "", "type": "textbook"}, **options)
    if not recorder.arrived:
        raise ValueError(_not_called(model))
    takes += recorder.takes()


@contextlib.contextmanager
def _asked(model: nn.Module, layers: Any, options: dict[str, int]) -> Iterator[Trace]:
    """A trace of the weights that a model writes out itself."""
    from clearhead.traces.slow import Asking

    asking = Asking(model, layers)
    with asking.watching():
        yield Trace(asking.takes, {**_about(model), "slow": True}, **options)
    if not asking.number:
        raise ValueError(_not_called(model))
    if not asking.takes:
        raise NotImplementedError(f"{type(model).__name__} was asked for its weights and gave none")


def _check_asked(option: str | None, why: str) -> None:
    """What cannot be kept of a model is refused when it is asked for, not when it is missing."""
    if option is not None:
        raise NotImplementedError(f"{option}=True cannot be had here: {why}; leave it out")


def _check_model(model: object, slow: bool) -> bool:
    """Whether a model can be watched; refused if it cannot, and is not to be asked for its weights either."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, torch.nn.Module):
        raise TypeError(
            f"trace takes a model of transformers, or an nn.Module built on clearhead.torch, got {type(model).__name__}"
        )
    if _is_on_the_interface(model) or _has_ours(model):
        return True
    if not slow:
        raise NotImplementedError(_refusal(model))
    return False


def _is_on_the_interface(model: nn.Module) -> bool:
    if sys.modules.get("transformers") is None:
        return False
    from clearhead import hf

    return any(hf.on_the_interface(module) for module in model.modules())


def _has_ours(model: nn.Module) -> bool:
    """Whether there are modules of clearhead.torch in a model, or of a class made of one."""
    kinds = {kind for module in model.modules() for kind in type(module).__mro__}
    return any(kind.__module__.startswith("clearhead.torch.") for kind in kinds)


@contextlib.contextmanager
def _on_the_kernels(model: nn.Module) -> Iterator[None]:
    if not _is_on_the_interface(model):
        yield
        return
    from clearhead import hf

    with hf.borrowed(model, thread=threading.get_ident()):
        yield


@contextlib.contextmanager
def _hooked(recorder: Recorder) -> Iterator[None]:
    """Let the recorder know when the model, or a part of it that has parts, is entered and left."""
    handles = []
    try:
        for module in recorder.model.modules():
            if module is recorder.model or next(module.children(), None) is not None:
                handles.append(module.register_forward_pre_hook(recorder.entered, with_kwargs=True))
                handles.append(module.register_forward_hook(recorder.left, always_call=True))
        yield
    finally:
        for handle in handles:
            handle.remove()


def _check_arrivals(recorder: Recorder) -> None:
    """A trace of nothing is an error, with what it is due to."""
    if recorder.arrived:
        none_asked = isinstance(recorder.layers, (list, tuple)) and not recorder.layers
        if not none_asked and not any(is_wanted(path, recorder.layers) for path in recorder.arrived):
            there = ", ".join(recorder.arrived)
            raise ValueError(f"no layer that was called is one of layers={recorder.layers!r}; {there} were called")
        return
    if not recorder.number:
        raise ValueError(_not_called(recorder.model))
    raise NotImplementedError(_refusal(recorder.model))


def _check_changes(recorder: Recorder) -> None:
    """A head that was to be taken out, or whose edges were to be cut, and is not there is an error."""
    layers = ", ".join(recorder.arrived)
    changes: list[Ablation | Cut] = [*recorder.ablate, *recorder.cut_scores, *recorder.cut_weights]
    for change in changes:
        if not any(change.concerns(path) for path in recorder.arrived):
            what = "a head was to be ablated" if isinstance(change, Ablation) else f"{change.option} was to cut edges"
            raise ValueError(f"no layer {change.layer!r} was called, of which {what}; {layers} were")
        if isinstance(change, Cut) and change not in recorder.touched:
            raise ValueError(
                f"{change.option} was to cut edges of layer {change.layer!r} that are not there: no call had any of "
                f"the queries {_told(change.queries)} and of the keys {_told(change.keys)}, positions counted from 0"
            )


def _check_gradients(recorder: Recorder, place: Path) -> None:
    """What is written when the block ends cannot take a gradient after it."""
    parts = [part for forward in recorder.forwards for layer in forward.layers.values() for part in layer.parts]
    if all(part.gradient is None for part in parts):
        raise ValueError(
            f"no gradient came before {place.name} was to be written, at the end of the block: call backward in the "
            "block, model(ids).logits[0, -1, token].backward(), without torch.no_grad()"
        )


def _told(runs: tuple[tuple[int, int], ...]) -> str:
    """Runs of positions, as slices are written."""
    return ", ".join(f"{start}:{'' if stop >= UNLIMITED else stop}" for start, stop in runs) or "(none)"


def _not_called(model: object) -> str:
    return (
        f"the {type(model).__name__} was not called in the block, in this thread (call it inside: "
        "with ch.trace(model) as trace: model(**inputs))"
    )


def _refusal(model: nn.Module) -> str:
    kinds = sorted(
        {type(module).__name__ for module in model.modules() if "attention" in type(module).__name__.lower()}
    )
    where = f", in {', '.join(kinds)}" if kinds else ""
    return (
        f"{type(model).__name__} computes its attention with code of its own{where}: none of its calls arrives at "
        "transformers' attention interface or at clearhead.torch; trace(model, slow=True) takes the weights that it "
        "writes out itself, n × n for every head, for short inputs"
    )
