"""ONNX's own conformance cases, as plain arrays.

The package onnx carries, for every operator, small inputs with the outputs they must give. They are built in
memory by importing the operator's test module; to import all of them takes a few seconds. A test takes them as
parameters,

    from .onnx_cases import cases

    @pytest.mark.parametrize("case", cases("RotaryEmbedding"))
    def test_rotary(case):
        case.check({"Y": adapter(**case.inputs, **case.attributes)})

and holds only the adapter from the operator's names to clearhead's.
"""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.backend.test.case import node as node_cases

# Two units in the last place of bfloat16: what onnx's own runner grants, a bfloat16 being coarser than rtol 1e-3.
BFLOAT16_RTOL = 2.0**-6
MODULES = {"LinearAttention": "linear_attention"}  # named otherwise than the operator in small letters


@dataclass(frozen=True)
class Case:
    """One node with what goes in and what must come out, under the names of the operator's specification.

    Inputs and outputs that the node leaves out are not in the dictionaries; attributes it leaves out have their
    default, if there is one. Strings are str, graphs (FlexAttention's functions) are onnx.GraphProto.
    """

    name: str
    inputs: dict[str, np.ndarray]
    attributes: dict[str, Any]
    outputs: dict[str, np.ndarray]
    rtol: float
    atol: float
    opset: int

    def check(self, got: Mapping[str, np.ndarray]) -> None:
        """Every output the case expects is there, in its type and shape, within the case's own tolerance.

        What the node does not ask for is not looked at.
        """
        for name, expected in self.outputs.items():
            assert name in got, f"{self.name} expects the output {name}, got {', '.join(got) or 'nothing'}"
            actual = np.asarray(got[name])
            assert actual.dtype == expected.dtype, f"{self.name}: {name} is {actual.dtype}, not {expected.dtype}"
            assert actual.shape == expected.shape, f"{self.name}: {name} is {actual.shape}, not {expected.shape}"
            rtol = self.rtol
            if expected.dtype.name == "bfloat16":  # assert_allclose cannot promote it
                rtol, actual, expected = max(rtol, BFLOAT16_RTOL), actual.astype("float32"), expected.astype("float32")
            np.testing.assert_allclose(actual, expected, rtol=rtol, atol=self.atol, err_msg=f"{self.name}: {name}")


def cases(op_type: str) -> list[Any]:
    """All cases of one operator as pytest parameters, without the twins that spell out its function body."""
    return [pytest.param(case, id=case.name.removeprefix("test_")) for case in all_cases(op_type)]


@functools.cache
def all_cases(op_type: str) -> list[Case]:
    """Every case of an operator. Numbers are drawn from the same seed for each, whatever was imported before."""
    module = MODULES.get(op_type, op_type.lower())
    with warnings.catch_warnings():  # some overflow and divide by zero on purpose
        warnings.simplefilter("ignore")
        importlib.import_module(f"{node_cases.__name__}.{module}")
    alone = [found for found in node_cases._NodeTestCases if len(found.model.graph.node) == 1]
    ours = [found for found in alone if found.model.graph.node[0].op_type == op_type and "_expanded" not in found.name]
    assert ours, f"onnx has no cases of {op_type} in {module}.py"
    return [_case(found) for found in ours]


def _case(found: Any) -> Case:
    node, graph = found.model.graph.node[0], found.model.graph
    opset = next(entry.version for entry in found.model.opset_import if entry.domain == node.domain)
    schema = onnx.defs.get_schema(node.op_type, opset, node.domain)
    inputs, outputs = found.data_sets[0]
    return Case(
        name=found.name,
        inputs=_named(schema.inputs, node.input, graph.input, inputs),
        attributes=_attributes(schema, node),
        outputs=_named(schema.outputs, node.output, graph.output, outputs),
        rtol=found.rtol,
        atol=found.atol,
        opset=opset,
    )


def _named(formal: Any, actual: Any, present: Any, values: Any) -> dict[str, Any]:
    """The values under the specification's names. An empty name in the node is an optional one left out."""
    by_name = dict(zip((info.name for info in present), values, strict=False))
    return {parameter.name: by_name[name] for parameter, name in zip(formal, actual, strict=False) if name in by_name}


def _attributes(schema: Any, node: Any) -> dict[str, Any]:
    defaults = {name: a.default_value for name, a in schema.attributes.items() if a.default_value.name}
    given = defaults | {attribute.name: attribute for attribute in node.attribute}
    values = {name: onnx.helper.get_attribute_value(attribute) for name, attribute in given.items()}
    return {name: value.decode() if isinstance(value, bytes) else value for name, value in values.items()}
