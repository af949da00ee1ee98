"""The textbook's steps before ONNX's 11 conformance cases of the operator FlexAttention.

The operator lets a graph of its own change the scores before the softmax, or the weights after it. Those graphs
run in ONNX's reference evaluator and stand between clearhead's steps as Python functions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from clearhead.textbook.attention import attention_scores, attention_weights, mix_values

from .onnx_cases import Case, cases


def as_function(graph: onnx.GraphProto | None) -> Callable[[np.ndarray], np.ndarray]:
    """A graph of one input and one output as a Python function; no graph changes nothing."""
    if graph is None:
        return lambda x: x
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", onnx.defs.onnx_opset_version())])
    evaluator = ReferenceEvaluator(model)
    return lambda x: evaluator.run(None, {graph.input[0].name: x})[0]


def onnx_flex_attention(
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    *,
    scale: float | None = None,
    score_mod: onnx.GraphProto | None = None,
    prob_mod: onnx.GraphProto | None = None,
) -> dict[str, np.ndarray]:
    scores = as_function(score_mod)(attention_scores(Q, K, scale=scale))
    weights = as_function(prob_mod)(attention_weights(scores))
    return {"Y": mix_values(weights, V).astype(V.dtype)}


@pytest.mark.parametrize("case", cases("FlexAttention"))
def test_flex_attention(case: Case):
    case.check(onnx_flex_attention(**case.inputs, **case.attributes))


def test_no_case_is_missing():
    assert len(cases("FlexAttention")) == 11
