"""How probes and outcomes cross from one process to the other: a line of JSON each, and never a pickle.

What comes from a learner's process is data and stays data: numbers, text, arrays without objects.
"""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import numpy as np

from clearhead.practice.answers import Failure, Foreign, Outcome, Tensor
from clearhead.practice.probes import Moved, Probe
from clearhead.practice.traces import Line, Trace

# Ends what was printed during one call, in the stream that everything printed goes to.
PRINTS_END = b"\x00\x1e\x00prints end\x00\x1e\x00"


def line(message: dict[str, Any]) -> bytes:
    """A message as one line."""
    return json.dumps(message).encode() + b"\n"


def message(received: bytes) -> dict[str, Any]:
    """The message of a line."""
    read: dict[str, Any] = json.loads(received)
    return read


def packed_probe(probe: Probe) -> list[Any]:
    moved = probe.moved and list(probe.moved)
    return [[list(size) for size in probe.sizes], probe.seed, probe.further, probe.digits, moved]


def probe_of(packed: list[Any]) -> Probe:
    sizes, seed, further, digits, moved = packed
    return Probe(tuple((name, size) for name, size in sizes), seed, further, digits, moved and Moved(*moved))


def packed_outcome(came: Outcome) -> dict[str, Any]:
    failure = came.failure and [came.failure.name, came.failure.message, packed_trace(came.failure.trace)]
    return {"answer": _packed(came.answer), "failure": failure, "changed": list(came.changed)}


def outcome_of(packed: dict[str, Any]) -> Outcome:
    failure = packed["failure"] and failure_of(packed["failure"])
    return Outcome(_unpacked(packed["answer"]), failure, tuple(packed["changed"]))


def failure_of(packed: list[Any]) -> Failure:
    name, text, trace = packed
    return Failure(str(name), str(text), trace_of(trace))


def packed_trace(trace: Trace) -> list[Any]:
    return [list(line) for line in trace]


def trace_of(packed: list[Any]) -> Trace:
    return tuple(Line(int(number), str(text), bool(marked)) for number, text, marked in packed)


def _packed(value: Any) -> Any:
    """Plain data as JSON: what JSON lacks is a list whose first entry says what it is."""
    if isinstance(value, np.ndarray):
        kept = io.BytesIO()
        np.save(kept, value, allow_pickle=False)
        return ["array", base64.b64encode(kept.getvalue()).decode()]
    if isinstance(value, Tensor):
        return ["tensor", _packed(value.array)]
    if isinstance(value, Foreign):
        return ["foreign", value.name]
    if isinstance(value, complex):
        return ["complex", [value.real, value.imag]]
    if isinstance(value, tuple):
        return ["tuple", [_packed(item) for item in value]]
    if isinstance(value, dict):
        return ["dict", [[name, _packed(item)] for name, item in value.items()]]
    return value


def _unpacked(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    kind, inner = value
    if kind == "array":
        return np.load(io.BytesIO(base64.b64decode(inner)), allow_pickle=False)
    if kind == "tensor":
        return Tensor(_unpacked(inner))
    if kind == "foreign":
        return Foreign(str(inner))
    if kind == "complex":
        return complex(*inner)
    if kind == "tuple":
        return tuple(_unpacked(item) for item in inner)
    return {str(name): _unpacked(item) for name, item in inner}
