"""The ways torch runs a function, threads, and a limit on memory: each works, or is refused by name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch.autograd import forward_ad, grad
from torch.utils.checkpoint import checkpoint

import clearhead
from clearhead import masks
from clearhead.torch import attention, biases

from ..kernels.processes import run
from .tensors import D_V, N_K, N_Q, D, H, flags, leaf, qkv, randn


class TestModes:
    @pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
    def test_without_gradients(self, mode):
        expected = attention(*qkv(), mask=masks.causal())
        with mode():
            output = attention(*qkv(), mask=masks.causal())
        assert expected.requires_grad
        assert not output.requires_grad
        assert torch.equal(output, expected)

    def test_tensors_made_in_inference_mode(self):
        with torch.inference_mode():
            tensors = [x.detach() * 1 for x in qkv()]
        assert torch.equal(attention(*tensors), attention(*qkv()))

    @pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16], ids=str)
    def test_autocast(self, kind):
        tensors, bias = qkv(torch.float32), leaf(N_Q, N_K, dtype=torch.float32)
        with torch.autocast("cpu", kind):
            output = attention(*tensors, bias=bias)
            mixed = attention(tensors[0], tensors[1].half(), tensors[2].bfloat16(), bias=bias)
            assert attention(*(x.double() for x in tensors)).dtype == torch.float64
        assert output.dtype == mixed.dtype == kind
        assert torch.equal(output, attention(*(x.to(kind) for x in tensors), bias=bias))
        gradients = grad(output.float().square().sum(), (*tensors, bias))
        narrow = [x.detach().to(kind).requires_grad_() for x in tensors]
        expected = grad(attention(*narrow, bias=bias).float().square().sum(), (*narrow, bias))
        for a, b in zip(gradients, expected, strict=True):
            assert a.dtype == torch.float32
            assert torch.equal(a, b.float())

    def test_torch_func(self):
        q, k, v = (x.detach() for x in qkv())
        bias, sinks = randn(H, N_Q, N_K), randn(H)

        def loss(q, k, v, bias, sinks):
            output, lse = attention(q, k, v, bias=bias, sinks=sinks, mask=masks.causal(), return_lse=True)
            return output.sin().sum() + lse.cos().sum()

        tensors = [x.clone().requires_grad_() for x in (q, k, v, bias, sinks)]
        expected = grad(loss(*tensors), tensors)
        found = torch.func.grad(loss, argnums=(0, 1, 2, 3, 4))(q, k, v, bias, sinks)
        _, pullback = torch.func.vjp(loss, q, k, v, bias, sinks)
        value, both = torch.func.grad_and_value(loss)(q, k, v, bias, sinks)[::-1]
        assert torch.equal(value, loss(*tensors))
        assert torch.equal(both, expected[0])
        for a, b, c in zip(found, pullback(torch.ones((), dtype=torch.float64)), expected, strict=True):
            assert torch.equal(a, c)
            assert torch.equal(b, c)

    def test_torch_func_on_a_module_with_learned_slopes(self):
        q, k, v = (x.detach() for x in qkv())
        slopes = leaf(H)
        found = torch.func.grad(lambda s: attention(q, k, v, bias=biases.alibi(s)).sin().sum())(slopes.detach())
        (expected,) = grad(attention(q, k, v, bias=biases.alibi(slopes)).sin().sum(), slopes)
        assert torch.equal(found, expected)

    @pytest.mark.parametrize("transform", [torch.func.vmap, torch.func.jacrev])
    def test_vmap_is_refused_by_name(self, transform):
        call = transform(lambda x: attention(x, x, x))
        with pytest.raises(NotImplementedError, match=r"does not run under torch\.func\.vmap; give it the whole"):
            call(randn(3, N_Q, D))

    def test_a_second_derivative_is_refused_by_name(self):
        q, k, v = qkv()
        (first,) = grad(attention(q, k, v).sum(), q, create_graph=True)
        (expected,) = grad(attention(q, k, v).sum(), q)
        assert torch.equal(first, expected)
        with pytest.raises(NotImplementedError, match="can be differentiated once, not twice"):
            first.sum().backward()

    @pytest.mark.parametrize(
        "transform",
        [
            lambda q: torch.func.jvp(lambda x: attention(x, x, x), (q,), (q,)),
            lambda q: torch.func.hessian(lambda x: attention(x, x, x).sum())(q),
            forward_ad.dual_level()(lambda q: attention(*[forward_ad.make_dual(q, q)] * 3)),
        ],
        ids=["jvp", "hessian", "dual numbers"],
    )
    def test_forward_mode_is_refused_by_name(self, transform):
        with pytest.raises(NotImplementedError, match="has no forward-mode derivative; use backward"):
            transform(randn(N_Q, D))

    def test_a_jacobian_row_by_row(self):
        q, k, v = (x.detach() for x in qkv(lead=()))
        jacobian = torch.autograd.functional.jacobian(lambda q: attention(q, k, v), q)
        rows = [grad(attention(x := q.clone().requires_grad_(), k, v)[n], x)[0] for n in np.ndindex(H, N_Q, D_V)]
        assert torch.equal(jacobian.reshape(-1, *q.shape), torch.stack(rows))

    def test_checkpointing_and_a_second_pass_over_the_graph(self):
        tensors = qkv()

        def call(q, k, v):
            return attention(q, k, v, dropout=0.3, seed=4).sin().sum()

        expected = grad(call(*tensors), tensors)
        again = checkpoint(call, *tensors, use_reentrant=False)
        for _ in range(2):
            found = grad(again, tensors, retain_graph=True)
            assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))

    @pytest.mark.parametrize("changed", ["q", "k", "v", "bias", "sinks", "mask"])
    def test_what_is_changed_before_backward_is_noticed(self, changed):
        tensors = {"q": randn(N_Q, D), "k": randn(N_K, D), "v": randn(N_K, D_V), "bias": randn(N_Q, N_K)}
        tensors |= {"sinks": randn(1), "mask": flags(N_Q, N_K)}
        v = tensors["v"].requires_grad_() * 1 if changed == "v" else tensors["v"].requires_grad_()
        output = attention(**tensors | {"v": v})
        with torch.no_grad():
            (v if changed == "v" else tensors[changed]).zero_()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            output.sum().backward()

    def test_parameters_and_accumulated_gradients(self):
        parameter = torch.nn.Parameter(randn(N_K, D))
        for _ in range(2):
            attention(parameter, parameter, parameter).sum().backward()
        (once,) = grad(attention(parameter, parameter, parameter).sum(), parameter)
        torch.testing.assert_close(parameter.grad, 2 * once)


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    before = clearhead.get_num_threads()
    clearhead.set_num_threads(count)
    try:
        yield
    finally:
        clearhead.set_num_threads(before)


class TestTheSameBits:
    @pytest.mark.parametrize(
        ("shape", "options"),
        [
            pytest.param((3, 301, 17), {"mask": masks.causal()}, id="heads"),
            pytest.param((1, 701, 17), {"mask": masks.causal()}, id="one head, split keys"),
            pytest.param((2, 3, 301, 17), {"bias": (301, 301)}, id="a bias that all heads share"),
            pytest.param((2, 3, 301, 17), {"bias": (2, 1, 301, 301)}, id="a bias that heads share"),
            pytest.param((2, 3, 301, 17), {"bias": (1, 301)}, id="a bias that queries share"),
            pytest.param((2, 3, 301, 17), {"bias": (301, 1), "sinks": (3,)}, id="a bias that keys share, sinks"),
            pytest.param((3, 701, 17), {"bias": "slopes"}, id="slopes"),
            pytest.param((3, 601, 17), {"mask": ~masks.dilated(3), "bias": "slopes"}, id="strips"),
            pytest.param((3, 301, 17), {"dropout": 0.3, "seed": 1, "softcap": 2.0}, id="dropout, softcap"),
        ],
    )
    def test_for_any_number_of_threads_and_from_run_to_run(self, shape, options):
        q, k, v = (leaf(*shape, dtype=torch.float32, seed=n) for n in range(3))
        options, more = dict(options), []
        for name in ("bias", "sinks"):
            if isinstance(options.get(name), tuple):
                options[name] = leaf(*options[name], dtype=torch.float32)
                more.append(options[name])
        if options.get("bias") == "slopes":
            more.append(leaf(shape[0], dtype=torch.float32))
            options["bias"] = biases.alibi(more[-1])
        found = []
        for count in (1, 2, 3, 2):
            with threads(count):
                output, lse = attention(q, k, v, **options, return_lse=True)
                found.append((output, lse, *grad(output.sin().sum() + lse.sum(), (q, k, v, *more), retain_graph=True)))
        for other in found[1:]:
            assert all(torch.equal(a, b) for a, b in zip(other, found[0], strict=True))


def test_forward_and_backward_in_memory_that_n_by_n_would_not_fit():
    """n = 16,384, 4 heads of 64: the scores of one head alone are 1 GiB, and 512 MiB may be taken."""
    code = """
        import resource
        import torch
        import clearhead.torch as cht
        torch.set_num_threads(1)

        def step(n):
            tensors = [torch.ones(1, 4, n, 64).requires_grad_() for _ in range(3)]
            output = cht.attention(*tensors, mask=causal())
            output.sum().backward()
            return output, tensors

        step(300)  # compiled, and threads started
        size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + 2**29, size + 2**29))
        try:
            torch.ones(16_384, 16_384)
        except RuntimeError:
            print("n by n does not fit")
        output, (q, k, v) = step(16_384)
        print(bool((output - 1).abs().max() < 1e-5), bool((q.grad.abs().max() < 1e-4)))
        expected = 1 / torch.arange(1, 16_385, dtype=torch.float64).flip(0)
        print(bool((v.grad[0, 0, :, 0] - expected.cumsum(0).flip(0)).abs().max() < 1e-3))
    """
    assert run(code, timeout=300, CLEARHEAD_NUM_THREADS="2").split("\n") == ["n by n does not fit", "True True", "True"]
