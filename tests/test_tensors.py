"""Tensors and arrays are handed over without a copy, and nobody loads torch to tell them apart."""

from __future__ import annotations

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
import torch

from clearhead.tensors import is_tensor, numpy_type, to_numpy, to_torch

KINDS = {
    torch.float16: np.float16,
    torch.bfloat16: ml_dtypes.bfloat16,
    torch.float32: np.float32,
    torch.float64: np.float64,
    torch.int64: np.int64,
    torch.bool: np.bool_,
}


@pytest.mark.parametrize("kind", KINDS, ids=str)
class TestBothWays:
    def test_the_same_numbers_in_the_same_memory(self, kind):
        tensor = (torch.arange(35).reshape(5, 7) - 3).to(kind)
        array = to_numpy(tensor)
        assert array.dtype == KINDS[kind]
        np.testing.assert_array_equal(array.astype(float), tensor.double().numpy())
        back = to_torch(array)
        assert back.dtype == kind
        assert back.data_ptr() == tensor.data_ptr()
        assert torch.equal(back, tensor)

    def test_strides_are_kept(self, kind):
        tensor = torch.zeros(3, 5, 7).to(kind)[:, ::2].transpose(0, 2)
        array = to_numpy(tensor)
        assert array.shape == (7, 3, 3)
        assert array.strides == tuple(step * tensor.element_size() for step in tensor.stride())
        assert to_torch(array).stride() == tensor.stride()


def test_a_tensor_with_a_gradient_gives_its_numbers():
    tensor = torch.ones(3, requires_grad=True)
    array = to_numpy(tensor * 2)
    np.testing.assert_array_equal(array, [2, 2, 2])


def test_what_torch_only_remembers_to_negate_is_negated():
    lazy = torch.tensor([1 + 2j, 3 - 4j]).conj().imag
    assert lazy.is_neg()
    np.testing.assert_array_equal(to_numpy(lazy), [-2, 4])


def test_tensors_are_told_from_everything_else():
    assert is_tensor(torch.zeros(3))
    assert not any(is_tensor(x) for x in (np.zeros(3), [1.0], 3, None, torch.float32))


def test_torch_is_not_loaded_to_tell():
    code = "import sys; from clearhead.tensors import is_tensor; print(is_tensor([1.0]), 'torch' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == ["False", "False"]


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_the_type_of_the_array_that_a_tensor_is(kind):
    assert numpy_type(kind) == to_numpy(torch.zeros(1, dtype=kind)).dtype
