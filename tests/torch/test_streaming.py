"""Attention and looking in blocks take memory in proportion to the length: shown under a limit on the address space."""

from __future__ import annotations

import pytest

from clearhead.torch import streaming

from ..kernels.processes import run
from ..views.test_memory import LIMIT, pytestmark as needs_proc

pytestmark = needs_proc

# As if tensors were on a device without kernels, and in blocks of a million scores.
ELSEWHERE = """
    import torch
    from clearhead.torch import attention, function, streaming
    torch.set_num_threads(1)
    function.has_kernels = lambda device: False
    streaming.PLACES = 2**20
    def tensors(heads, n, d=16):
        return [torch.from_numpy(x) for x in arrays(heads, n, d=d)]
    look(*tensors(2, 400), mask=causal()).weights(0)
    q, k, v = (x.requires_grad_() for x in tensors(2, 400))
    attention(q, k, v, mask=causal(), softcap=9.0).sum().backward()
"""
NO_MATRIX = """
    try:
        torch.empty(n, n)
        print("there was no limit")
    except RuntimeError:
        print("done")
"""


def test_looking_and_the_way_back():
    """12,000 keys: 549 MiB of weights, in 200 MiB besides the inputs."""
    code = """
        n = 12_000
        q, k, v = tensors(1, n)
        limit(200 * 2**20)
        view = look(q, k, v, mask=causal())
        assert abs(float(view.received.sum()) / n - 1) < 1e-5
        i = 7000
        scores = k[0, : i + 1].double() @ q[0, i].double() / 4
        weights = torch.softmax(scores, 0)
        assert abs(view.entropy[0, i] + (weights * weights.log()).sum()) < 1e-4
        assert (view.row(i)[0, : i + 1] - weights).abs().max() < 1e-6
        assert (view.output[0, i] - weights @ v[0, : i + 1].double()).abs().max() < 1e-5
        q.requires_grad_()
        attention(q, k, v, mask=causal(), softcap=9.0).sum().backward()
        assert torch.isfinite(q.grad).all()
    """
    assert run(LIMIT, ELSEWHERE, code, NO_MATRIX, timeout=600, OPENBLAS_NUM_THREADS="1") == "done"


@pytest.mark.parametrize(("heads", "n_q"), [(1, 1), (1, 10**6), (32, 256), (32, 10**6), (10**5, 7), (0, 0)])
def test_a_block_holds_no_more_than_it_may(heads, n_q):
    rows, cols = streaming.block_of(heads, n_q)
    assert heads * rows * cols <= max(streaming.PLACES, 256 * heads)
    assert rows & (rows - 1) == cols & (cols - 1) == 0
    assert cols <= streaming.WIDEST
