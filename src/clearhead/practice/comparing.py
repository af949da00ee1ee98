"""Where two answers differ, said as data: the first difference in the order in which a learner should hear of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clearhead.practice.answers import Foreign, Tensor
from clearhead.practice.exercise import Part

# From what hides everything else to what is seen last.
ORDER = ("nothing", "count", "names", "type", "shape", "dtype", "nan", "values")


class Difference(NamedTuple):
    """How an answer differs from the right one.

    kind       one of ORDER
    output     the name of the output, or of the number in a dict; "" where there is one without a name
    expected   what was right: an array, a number, text, a tuple; for "count" and "names" the whole answer
    got        what came
    """

    kind: str
    output: str
    expected: Any
    got: Any


def leaves(part: Part, answer: Any) -> dict[str, Any] | None:
    """An answer by the names of its outputs; None if it is not made up as the part's outputs are."""
    names = tuple(part.outputs)
    if len(names) > 1:
        fits = isinstance(answer, tuple) and len(answer) == len(names)
        return dict(zip(names, answer, strict=True)) if fits else None
    if isinstance(answer, dict):
        return answer
    return {names[0] if names else "": answer}


def difference(part: Part, expected: Any, model: Any, got: Any) -> Difference | None:
    """The first difference of an answer, or None.

    expected   the judge's answer: what the values must be
    model      the solution's answer: what the types must be
    """
    if got is None and model is not None:
        return Difference("nothing", "", expected, got)
    right, types, came = leaves(part, expected), leaves(part, model), leaves(part, got)
    assert right is not None, f"the judge of {part.name} does not answer with {', '.join(part.outputs)}"
    assert types is not None, f"the solution of {part.name} does not answer with {', '.join(part.outputs)}"
    if came is None:
        return Difference("count", "", expected, got)
    if isinstance(model, dict) and not isinstance(got, dict):
        return Difference("type", "", expected, got)
    if missing := [name for name in right if name not in came]:
        return Difference("names", missing[0], expected, got)
    found = [_of_leaf(part, name, right[name], types[name], came[name]) for name in right]
    # Weights that are wrong say more than the output they spoil.
    return min(filter(None, found), key=lambda d: (ORDER.index(d.kind), d.output != part.weights), default=None)


def same(a: Any, b: Any, tolerance: float) -> bool:
    """Whether two values are the same up to a tolerance relative to the largest number of `a`; NaN is NaN."""
    a, b = bare(a), bare(b)
    if isinstance(a, dict) or isinstance(b, dict):
        return (
            isinstance(a, dict)
            and isinstance(b, dict)
            and a.keys() == b.keys()
            and all(same(a[name], b[name], tolerance) for name in a)
        )
    if _is_number(a) and _is_number(b):
        a, b = np.asarray(a), np.asarray(b)
        return a.shape == b.shape and not differing(a, b, tolerance).any()
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and bool((a == b).all())
    return type(a) is type(b) and bool(a == b)


def differing(expected: np.ndarray, got: np.ndarray, tolerance: float) -> np.ndarray:
    """Which cells differ: two arrays of one shape → an array of truths of that shape."""
    if not (_is_numeric(expected) and _is_numeric(got)):
        return np.asarray(expected != got)
    a, b = (np.asarray(x, np.complex128 if x.dtype.kind == "c" else np.float64) for x in (expected, got))
    finite = np.abs(a[np.isfinite(a)])
    reach = tolerance * (finite.max(initial=0.0) or 1.0)
    with np.errstate(invalid="ignore"):
        near = np.abs(a - b) <= reach
    return np.asarray(~(near | (a == b) | (np.isnan(a) & np.isnan(b))))


def bare(value: Any) -> Any:
    """A tensor's array, an array without axes as a number, anything else as it is."""
    value = value.array if isinstance(value, Tensor) else value
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 and _is_numeric(value) else value


def kind_of(value: Any) -> str:
    """The kind of an output, as one speaks of it."""
    if isinstance(value, Tensor):
        return "tensor"
    if isinstance(value, np.ndarray) and value.ndim:
        return "array"
    value = bare(value)
    kinds = {
        bool: "truth",
        int: "number",
        float: "number",
        complex: "number",
        str: "text",
        tuple: "sequence",
        dict: "dict",
    }
    return "nothing" if value is None else kinds.get(type(value), "foreign")


def _of_leaf(part: Part, name: str, right: Any, model: Any, came: Any) -> Difference | None:
    def found(kind: str) -> Difference:
        return Difference(kind, name, right, came)

    if kind_of(model) == "sequence" and isinstance(came, np.ndarray) and came.ndim == 1:
        came = tuple(came.tolist())
    if model is not None and (came is None or (isinstance(came, tuple) and any(item is None for item in came))):
        return found("nothing")
    if not _kinds_agree(model, came) or isinstance(came, Foreign):
        return found("type")
    expected, got = bare(right), bare(came)
    if not isinstance(got, np.ndarray):
        if isinstance(got, float) and not np.isfinite(got) and not same(expected, got, part.tolerance):
            return found("nan")
        return None if same(expected, got, part.tolerance) else found("values")
    expected = np.asarray(expected)
    if expected.shape != got.shape:
        return found("shape")
    wrong = differing(expected, got, part.tolerance)
    if not _types_agree(np.asarray(bare(model)).dtype, got.dtype, right=not wrong.any()):
        return found("dtype")
    if wrong.any():
        strange = _is_numeric(got) and (wrong & ~np.isfinite(got)).any()
        return found("nan" if strange else "values")
    return None


def _kinds_agree(model: Any, came: Any) -> bool:
    a, b = kind_of(model), kind_of(came)
    if "tensor" in (a, b):
        return a == b
    return a == b or {a, b} <= {"number", "truth"}


def _types_agree(model: np.dtype[Any], came: np.dtype[Any], *, right: bool) -> bool:
    """Whether a type will do: any whole numbers for whole numbers, and whole numbers for floats if they are right."""
    if model.kind in "iu" and came.kind in "iu":
        return True
    if model.kind == "f" and came.kind in "iu":
        return right
    return model == came or (model.kind == came.kind == "f" and came.itemsize > model.itemsize)


def _is_numeric(array: np.ndarray) -> bool:
    return array.dtype.kind in "biufc"


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex)) or (isinstance(value, np.ndarray) and _is_numeric(value))
