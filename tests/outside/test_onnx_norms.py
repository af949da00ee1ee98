"""ONNX LayerNormalization and RMSNormalization against clearhead's layer_norm and rms_norm."""

from __future__ import annotations

import pytest

from clearhead.textbook.norms import layer_norm, layer_statistics, rms_norm

from .onnx_cases import cases


def test_all_cases_are_here():
    assert len(cases("LayerNormalization")) == 19
    assert len(cases("RMSNormalization")) == 19


@pytest.mark.parametrize("case", cases("LayerNormalization"))
def test_layer_normalization(case):
    x, axis, eps = case.inputs["X"], case.attributes["axis"], case.attributes["epsilon"]
    mean, inverse_std = layer_statistics(x, eps=eps, axis=axis)
    y = layer_norm(x, case.inputs["Scale"], case.inputs.get("B"), eps=eps, axis=axis)
    assert len(case.outputs) == 3
    case.check({"Y": y, "Mean": mean, "InvStdDev": inverse_std})


@pytest.mark.parametrize("case", cases("RMSNormalization"))
def test_rms_normalization(case):
    y = rms_norm(case.inputs["X"], case.inputs["scale"], eps=case.attributes["epsilon"], axis=case.attributes["axis"])
    case.check({"Y": y})
