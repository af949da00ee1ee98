from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from clearhead.textbook.cost import attention_cost, compare_layers, text_table


def counted_flops(function, *inputs):
    """What torch counts while the function runs: matrix products, 2 FLOPs for a multiply and an add."""
    with FlopCounterMode(display=False) as counter:
        function(*inputs)
    return counter.get_total_flops()


def number_of_parameters(module):
    return sum(parameter.numel() for parameter in module.parameters())


def test_the_number_of_the_course():
    cost = attention_cost(16, d_model=512, num_heads=8, batch=2)
    assert cost.d_k == 64
    assert cost.parameters == 4 * (512**2 + 512) == 1_050_624
    assert cost.steps["output"].bytes == 2 * 16 * 512 * 4
    assert cost.attention_bytes == 2 * 8 * 16 * 16 * 4


def test_the_attention_matrix_of_a_thousand_tokens():
    assert attention_cost(1000, 512).attention_bytes == 4_000_000
    assert attention_cost(1000, 512, 8).attention_bytes == 32_000_000
    assert attention_cost(1000, 512, dtype="float16").attention_bytes == 2_000_000
    assert attention_cost(2000, 512).attention_bytes == 4 * attention_cost(1000, 512).attention_bytes


def test_several_heads_cost_the_same_as_one():
    costs = [attention_cost(101, 512, heads) for heads in (1, 2, 4, 8, 16)]
    assert {cost.parameters for cost in costs} == {1_050_624}
    assert len({cost.flops for cost in costs}) == 1
    assert [cost.d_k for cost in costs] == [512, 256, 128, 64, 32]
    # what does grow is the number of attention matrices
    assert [cost.attention_bytes // costs[0].attention_bytes for cost in costs] == [1, 2, 4, 8, 16]


@pytest.mark.parametrize("bias", [True, False])
def test_torch_has_as_many_parameters(bias):
    judge = torch.nn.MultiheadAttention(77, 7, bias=bias, device="meta")
    assert attention_cost(3, 77, 7, bias=bias).parameters == number_of_parameters(judge)


def test_torch_counts_as_many_flops():
    judge = torch.nn.MultiheadAttention(77, 7, bias=False, batch_first=True, device="meta")
    queries, keys = torch.empty(3, 13, 77, device="meta"), torch.empty(3, 17, 77, device="meta")
    cost = attention_cost(13, 77, 7, n_k=17, batch=3)
    assert cost.flops == counted_flops(lambda: judge(queries, keys, keys))


def test_every_step_written_out():
    cost = attention_cost(13, 6 * 5, 6, n_k=17, num_kv_heads=2, batch=3, dtype=np.float64)
    expected = {
        "queries": (30 * 30 + 30, 2 * 3 * 13 * 30 * 30, 8 * 3 * 13 * 30),
        "keys": (30 * 10 + 10, 2 * 3 * 17 * 30 * 10, 8 * 3 * 17 * 10),
        "values": (30 * 10 + 10, 2 * 3 * 17 * 30 * 10, 8 * 3 * 17 * 10),
        "scores": (0, 2 * 3 * 6 * 13 * 17 * 5, 8 * 3 * 6 * 13 * 17),
        "mix": (0, 2 * 3 * 6 * 13 * 17 * 5, 8 * 3 * 13 * 30),
        "output": (30 * 30 + 30, 2 * 3 * 13 * 30 * 30, 8 * 3 * 13 * 30),
    }
    assert {name: (s.parameters, s.flops, s.bytes) for name, s in cost.steps.items()} == expected
    assert cost.flops == sum(flops for _, flops, _ in expected.values())
    assert cost.activation_bytes == sum(size for _, _, size in expected.values())
    assert cost.parameter_bytes == 8 * cost.parameters
    assert cost.cache_bytes == 2 * 8 * 3 * 17 * 10


def test_printed_it_is_a_table():
    assert str(attention_cost(1000, 512, 8)).splitlines() == [
        "attention: 1,000 queries × 1,000 keys, d_model 512 = 8 heads × d_k 64, float32",
        "         parameters          FLOPs  bytes made",
        "queries     262,656    524,288,000   2,048,000",
        "keys        262,656    524,288,000   2,048,000",
        "values      262,656    524,288,000   2,048,000",
        "scores            0  1,024,000,000  32,000,000",
        "mix               0  1,024,000,000   2,048,000",
        "output      262,656    524,288,000   2,048,000",
        "total     1,050,624  4,145,152,000  42,240,000",
    ]
    grouped = str(attention_cost(5, 12, 6, num_kv_heads=2, batch=3, dtype="bfloat16")).splitlines()[0]
    assert grouped == (
        "attention: 5 queries × 5 keys, batch of 3, d_model 12 = 6 heads (2 for keys and values) × d_k 2, bfloat16"
    )


def by_name(n, d_model, **options):
    return {layer.layer: layer for layer in compare_layers(n, d_model, **options).layers}


def test_torch_counts_the_same_for_each_layer():
    n, d, k = 13, 7, 5
    layers = by_name(n, d, kernel=k)
    X = torch.empty(1, n, d, device="meta")
    attention = torch.nn.MultiheadAttention(d, 1, batch_first=True, device="meta")
    convolution = torch.nn.Conv1d(d, d, k, device="meta")
    W, U = torch.nn.Linear(d, d, device="meta"), torch.nn.Linear(d, d, bias=False, device="meta")

    def recurrence(X):
        h = torch.empty(1, d, device="meta")
        for t in range(n):
            h = torch.tanh(W(X[:, t]) + U(h))

    def padded_convolution(X):
        return convolution(torch.nn.functional.pad(X.mT, (k - 1, 0)))

    assert layers["attention"].flops == counted_flops(lambda: attention(X, X, X))
    assert layers["recurrent"].flops == counted_flops(recurrence, X)
    assert layers["convolution"].flops == layers["dilated"].flops == counted_flops(padded_convolution, X)
    assert layers["attention"].parameters == number_of_parameters(attention)
    assert layers["recurrent"].parameters == number_of_parameters(W) + number_of_parameters(U)
    assert layers["convolution"].parameters == layers["dilated"].parameters == number_of_parameters(convolution)


def depth_to_see_everything(n, reaches):
    """Stack layers, each knowing which earlier positions it looks at, until the last position knows the first."""
    knows = np.eye(n, dtype=bool)
    for depth in range(1, n + 2):
        reach = reaches(depth)
        sees = np.array([[i - j in reach for j in range(n)] for i in range(n)])
        knows = sees.astype(int) @ knows.astype(int) > 0
        if knows[-1, 0]:
            return depth
    raise AssertionError


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 9, 10, 27, 28, 37])
@pytest.mark.parametrize("kernel", [2, 3, 5])
def test_path_lengths_are_those_of_a_real_stack(n, kernel):
    layers = by_name(n, 7, kernel=kernel)
    assert layers["attention"].path_length == depth_to_see_everything(n, lambda depth: set(range(n)))
    assert layers["convolution"].path_length == depth_to_see_everything(n, lambda depth: set(range(kernel)))
    assert layers["dilated"].path_length == depth_to_see_everything(
        n, lambda depth: {kernel ** (depth - 1) * step for step in range(kernel)}
    )
    assert layers["recurrent"].path_length == n  # the first word has been through every step, its own included


def test_only_attention_grows_with_the_square_of_the_length():
    short, long = by_name(1000, 512), by_name(2000, 512)
    growth = {name: long[name].mixing_flops / short[name].mixing_flops for name in short}
    assert growth == {"attention": 4, "recurrent": 2, "convolution": 2, "dilated": 2}
    assert [long[name].sequential_steps for name in long] == [1, 2000, 1, 1]
    assert [short[name].complexity for name in short] == ["n² d", "n d²", "k n d²", "k n d²"]


def test_attention_mixes_for_less_than_recurrence_while_the_text_is_shorter_than_half_its_width():
    for n, cheaper in ((255, True), (256, False)):
        layers = by_name(n, 512)
        assert (layers["attention"].mixing_flops < layers["recurrent"].mixing_flops) is cheaper


def test_comparison_prints_a_row_per_length_and_layer():
    printed = str(compare_layers([64, 4096], 512)).splitlines()
    assert printed[0] == "one layer, d = 512, kernel k = 3"
    assert len(printed) == 2 + 2 * 4
    assert printed[2].split() == ["64", "attention", "n²", "d", "1,050,624", "8,388,608", "142,606,336", "1", "1"]
    assert printed[7].split()[-2:] == ["4,096", "4,096"]


def test_table_aligns_words_left_and_numbers_right():
    written = text_table(("a", "number"), [("word", 1), ("x", 1_000_000)])
    assert written == "a        number\nword          1\nx     1,000,000"


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (
            lambda: attention_cost(5, 512, 7),
            ValueError,
            r"d_model = 512 cannot be divided among num_heads = 7 heads evenly; .* \(d_model=518 is\)",
        ),
        (lambda: attention_cost(0, 512), ValueError, "n must be at least 1, got 0"),
        (lambda: attention_cost(5, -1), ValueError, "d_model must be at least 1, got -1"),
        (lambda: attention_cost(5.0, 512), TypeError, "n must be a whole number, got 5.0 of type float"),
        (lambda: attention_cost(5, 512, 8, n_k=0), ValueError, "n_k must be at least 1, got 0"),
        (lambda: attention_cost(5, 512, 8, batch=0), ValueError, "batch must be at least 1, got 0"),
        (
            lambda: attention_cost(5, 512, 8, num_kv_heads=3),
            ValueError,
            "8 query heads cannot share 3 key/value heads evenly; the number of query heads must be a multiple",
        ),
        (
            lambda: attention_cost(5, 512, dtype=np.int64),
            ValueError,
            "dtype must be one of 'float16', 'bfloat16', 'float32', 'float64', got 'int64'",
        ),
        (lambda: compare_layers(5, 512, kernel=1), ValueError, "kernel must be at least 2, got 1"),
        (lambda: compare_layers([5, 0], 512), ValueError, "n must be at least 1, got 0"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_shapes_that_cannot_be_are_refused(call, error, said):
    with pytest.raises(error, match=said):
        call()
