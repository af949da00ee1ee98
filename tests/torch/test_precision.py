"""Full float32 products, and settings that are afterwards what they were."""

from __future__ import annotations

import pytest
import torch

from clearhead.torch import precision
from clearhead.torch.precision import full_products

from ..kernels.processes import run
from .forced import in_blocks
from .tensors import randn

CPU = torch.device("cpu")


def settings() -> tuple[str, ...]:
    """All that torch says of products of float32 numbers."""
    libraries = torch.backends.cuda.matmul, torch.backends.mkldnn.matmul
    return precision._older_setting() or "mixed", *(x.fp32_precision for x in libraries)


class TestSettings:
    @pytest.fixture(autouse=True)
    def put_back(self):
        yield
        torch.set_float32_matmul_precision("highest")
        for library in (torch.backends.cuda.matmul, torch.backends.mkldnn.matmul):
            library.fp32_precision = "none"

    @pytest.mark.parametrize("older", ["highest", "high", "medium"])
    def test_the_older_way(self, older):
        torch.set_float32_matmul_precision(older)
        before = settings()
        with full_products(CPU):
            assert settings()[0] == "highest"
            assert set(settings()[1:]) <= {"none", "ieee"}
        assert settings() == before

    @pytest.mark.parametrize("library", [torch.backends.cuda.matmul, torch.backends.mkldnn.matmul], ids=["cuda", "cpu"])
    def test_the_way_by_library(self, library):
        library.fp32_precision = "tf32"
        before = settings()
        with full_products(CPU):
            assert library.fp32_precision == "ieee"
        assert settings() == before

    def test_after_an_error(self):
        torch.set_float32_matmul_precision("medium")
        before = settings()
        with pytest.raises(ZeroDivisionError), full_products(CPU):
            1 / 0  # noqa: B018
        assert settings() == before

    def test_what_follows_the_setting_for_all_goes_on_following_it(self):
        code = """
            import torch
            from clearhead.torch.precision import full_products
            torch.backends.fp32_precision = "tf32"
            with full_products(torch.device("cpu")):
                print(torch.backends.cuda.matmul.fp32_precision)
            torch.backends.fp32_precision = "ieee"
            print(torch.backends.cuda.matmul.fp32_precision)
        """
        assert run(code).split() == ["ieee", "ieee"]


def test_autocast_does_not_reach_into_blocks():
    """The inputs are rounded to its type, as torch's own attention has it, and then computed with in float32."""
    q, k, v = (randn(2, 50, 8, dtype=torch.float32, seed=n) for n in range(3))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = in_blocks(q, k, v, return_lse=True)
    expected = in_blocks(*(x.bfloat16() for x in (q, k, v)), return_lse=True)
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))
