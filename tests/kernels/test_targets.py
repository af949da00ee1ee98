"""The same source compiled for narrower vectors: AVX2, and x86 as it was before AVX.

numba is told to forget what this machine can do, in a process with a cache of its own, and the assembly is searched
for registers that should not be there. Part of the table of rows is then run in that process.
"""

from __future__ import annotations

import platform

import llvmlite.binding as llvm
import pytest

from .processes import run

TARGETS = {
    "avx2": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma,-avx512f"},
    "generic": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
}
FORBIDDEN = {"avx2": ["zmm"], "generic": ["zmm", "ymm"]}
EXPECTED = {"avx2": ["ymm", "vfmadd"], "generic": ["xmm", "mulps", "mulpd"]}

CODE = """
    import functools
    import torch
    from clearhead.kernels import compiler
    from tests.equivalence import KINDS, LOOKED, ROWS, STRANGE
    from tests.judge import judge
    from tests.problems import build
    from tests.torch.gradients import check_gradients, torch_can_hold
    from tests.views.truth import check_look
    from clearhead.masks import dilated
    from clearhead.views import look
    from clearhead.kernels.target import TARGET

    torch.set_num_threads(1)
    optimised = functools.cache(compiler.optimised)  # what runs and what is read below are compiled once
    compiler.optimised = lambda module, kind: optimised(module, kind).clone()

    rows = {row.name: row for row in [*ROWS[::3], *KINDS, *STRANGE]}.values()
    for row in rows:
        problem = build(row)
        answer = attention(*problem.arrays, **problem.options | {"return_lse": True})
        try:
            judge(problem).check(*answer, slack=1.5)  # without fused multiply-add, more is rounded
        except AssertionError as error:
            print(f"{row.name}: {error}")
    for row in [row for row in rows if row in LOOKED][::4]:
        try:
            check_look(build(row), slack=2)
        except AssertionError as error:
            print(f"look, {row.name}: {error}")
    held = [row for row in rows if torch_can_hold(row)][::2]
    for row in held:
        try:
            check_gradients(build(row), slack=1.5)
        except AssertionError as error:
            print(f"gradients, {row.name}: {error}")
    for kind in (np.float32, np.float64):
        q, k = arrays(3, 150)[0].astype(kind), arrays(3, 403)[1].astype(kind)
        view = look(q, k, mask=dilated(2) & window(200))
        weights = view.weights()
        exact = textbook(*(x.astype(np.float64) for x in (q, k, k)), (dilated(2) & window(200)).array(150, 403))[1]
        if not np.abs(weights - exact).max() < 10 * np.finfo(kind).eps:
            print(f"weights, {kind}: {np.abs(weights - exact).max()}")
        if not np.array_equal(weights.max(axis=-1), view.max_weight):
            print(f"largest weights, {kind}")
        tile = np.nan_to_num(view.tile(0, slice(0, 128), slice(3, 387), (16, 24), reduce="max"))
        if not np.array_equal(tile, weights[0, :128, 3:387].reshape(16, 8, 24, 16).max(axis=(1, 3))):
            print(f"tile, {kind}")
    print(TARGET.name, len(rows) > 150, len(held) > 75)
    for file in ("forward", "observe", "backward", "windows"):
        texts = [compiler.assembly(f"clearhead.kernels.{file}", np.dtype(kind)) for kind in (np.float32, np.float64)]
        print(*(word for word in WORDS if any(word in text for text in texts)))
"""


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="AVX2 and SSE are x86 instructions")
@pytest.mark.parametrize("name", TARGETS)
def test_a_narrower_build(name, tmp_path):
    if name == "avx2" and not llvm.get_host_cpu_features().get("avx2"):
        pytest.skip("this processor cannot run AVX2")
    words = [*FORBIDDEN[name], *EXPECTED[name]]
    printed = run(f"WORDS = {words}", CODE, timeout=500, NUMBA_CACHE_DIR=str(tmp_path), **TARGETS[name])
    *wrong, target, of_attention, of_look, of_gradients, of_windows = printed.splitlines()
    assert not wrong, "\n".join(wrong)
    assert target == f"{name} True True"
    assert of_attention == of_look == of_gradients == of_windows == " ".join(EXPECTED[name])
