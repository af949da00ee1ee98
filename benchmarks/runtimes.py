"""Peers that compile a graph ahead of time: onnxruntime and OpenVINO, which only the benchmark needs."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import ml_dtypes
import numpy as np

from benchmarks.problems import Call, Problem

OPSET = 23  # the first of ONNX with Attention
IR_VERSION = 11


def with_onnxruntime(problem: Problem, threads: int) -> Call | None:
    # It has no dropout, and of the half types only float16.
    if not {"onnx", "onnxruntime"} <= installed() or problem.dropout or problem.q.dtype.name == "bfloat16":
        return None
    import onnxruntime
    from onnx import helper

    inputs = {"q": problem.q, "k": problem.k, "v": problem.v}
    extra = written_mask(problem)
    if extra is not None:
        inputs["attn_mask"] = extra
    kinds = {name: helper.np_dtype_to_tensor_dtype(x.dtype) for name, x in inputs.items()}
    graph = helper.make_graph(
        [helper.make_node("Attention", list(inputs), ["y"], is_causal=int(problem.causal))],
        "attention",
        [helper.make_tensor_value_info(name, kinds[name], x.shape) for name, x in inputs.items()],
        [helper.make_tensor_value_info("y", kinds["q"], None)],
    )
    opset = helper.make_opsetid("", OPSET)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION).SerializeToString()

    def session(arena: bool) -> onnxruntime.InferenceSession:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.enable_cpu_mem_arena = arena
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def lean() -> Callable[[], Any]:
        plain = session(arena=False)
        plain.run(None, inputs)
        return lambda: plain.run(None, inputs)

    opened = session(arena=True)
    return Call(lambda: opened.run(None, inputs), lambda results: results[0], lean=lean)


def with_openvino(problem: Problem, threads: int) -> Call | None:
    # It has no dropout and no heads that share keys, and computes float16 in bfloat16.
    kind = problem.q.dtype.name
    if "openvino" not in installed() or problem.dropout or problem.grouped or kind == "float16":
        return None
    import openvino
    from openvino import opset13

    arrays = [problem.q, problem.k, problem.v]
    extra = written_mask(problem)
    if extra is not None:
        arrays.append(extra)
    types = {"float32": openvino.Type.f32, "bfloat16": openvino.Type.bf16, "bool": openvino.Type.boolean}
    inputs = [opset13.parameter(list(x.shape), types[x.dtype.name]) for x in arrays]
    attended = opset13.scaled_dot_product_attention(*inputs, causal=problem.causal)
    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY",
        # Left to itself, it computes float32 in bfloat16 where the processor can.
        "INFERENCE_PRECISION_HINT": "f32" if kind == "float32" else "bf16",
    }
    compiled = openvino.Core().compile_model(openvino.Model([attended], inputs), "CPU", settings)
    request = compiled.create_infer_request()
    for number, (x, parameter) in enumerate(zip(arrays, inputs, strict=True)):
        held = openvino.Tensor(parameter.get_element_type(), openvino.Shape(x.shape))
        bits(held.data)[...] = bits(x)
        request.set_input_tensor(number, held)

    def run() -> Any:
        request.infer()
        return request.get_output_tensor(0).data

    def read(y: np.ndarray) -> np.ndarray:
        return y.view(ml_dtypes.bfloat16).astype(np.float32) if kind == "bfloat16" else y.copy()

    return Call(run, read, weighed=False)


def installed() -> set[str]:
    """Which of the packages used here there are."""
    return {name for name in ("onnx", "onnxruntime", "openvino") if find_spec(name) is not None}


def written_mask(problem: Problem) -> np.ndarray | None:
    """A mask or bias with all queries and keys: only leading axes are left to broadcasting."""
    extra = problem.allowed if problem.allowed is not None else problem.addition
    if extra is None:
        return None
    return np.broadcast_to(extra, (*extra.shape[:-2], problem.q.shape[2], problem.k.shape[2])).copy()


def bits(x: np.ndarray) -> np.ndarray:
    """The same memory as whole numbers: OpenVINO shows bfloat16 as float16."""
    return x.view(f"u{x.itemsize}")
