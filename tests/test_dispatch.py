"""The one door: what it refuses and in which words, what it says it will do, and that parts join exactly."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import re
from inspect import Parameter

import ml_dtypes
import numpy as np
import pytest
import torch

import clearhead
import clearhead.torch as cht
from clearhead import biases, masks
from clearhead.call import prepare
from clearhead.dispatch import attention, explain, merge
from clearhead.kernels import launch, schedule
from clearhead.kernels.job import BLOCK
from clearhead.textbook.attention import scaled_dot_product_attention
from clearhead.textbook.flash import flash_attention
from clearhead.views import look

from .problems import build, row


@pytest.fixture
def qkv(rng):
    """b = 2, h = 3, n_q = 5, n_k = 7, d = 11, d_v = 13"""
    return tuple(rng.standard_normal((2, 3, n, d)).astype(np.float32) for n, d in ((5, 11), (7, 11), (7, 13)))


@pytest.fixture
def threads():
    """Leaves the number of threads as it was."""
    before = schedule.get_num_threads()
    yield schedule.set_num_threads
    schedule.set_num_threads(before)


class TestErrors:
    @pytest.mark.parametrize(
        ("change", "error", "message"),
        [
            ({"q": np.ones((2, 3, 5, 11), int)}, TypeError, r"q must be .* got int64 \(did you pass token ids\?"),
            ({"k": np.ones((2, 3, 7, 11), complex)}, TypeError, "k must be float16, bfloat16, float32 or float64"),
            ({"v": np.ones(7)}, ValueError, r"v needs at least 2 dimensions, got shape \(7,\)"),
            ({"k": np.ones((2, 3, 7, 10))}, ValueError, "keys have 10 columns but queries have 11; both must be"),
            ({"v": np.ones((2, 3, 8, 13))}, ValueError, "there are 7 keys but 8 values; each key needs one value"),
            ({"q": np.ones((2, 4, 5, 11))}, ValueError, "4 query heads cannot share 3 key/value heads evenly"),
            ({"q": np.ones((2, 2, 5, 11))}, ValueError, "2 query heads cannot share 3 key/value heads evenly"),
            ({"v": np.ones((2, 2, 7, 13))}, ValueError, "keys have 3 heads but values have 2; both must have as many"),
            ({"q": np.ones((5, 3, 5, 11))}, ValueError, r"batch axes do not fit .* q \(5,\), k \(2,\), v \(2,\)"),
            ({"mask": np.ones((5, 7), int)}, TypeError, r"mask must be boolean \(True = may attend\) or float"),
            ({"mask": np.ones((5, 8), bool)}, ValueError, r"mask of shape \(5, 8\) does not broadcast to the scores'"),
            ({"mask": np.ones((4, 1, 1, 1, 7), bool)}, ValueError, r"does not .* to the scores' shape \(2, 3, 5, 7\)"),
            ({"mask": masks.array(np.ones((5, 8), bool))}, ValueError, r"mask of shape \(5, 8\) does not broadcast"),
            ({"mask": ~masks.array(np.ones((5, 8), bool))}, ValueError, r"mask of shape \(5, 8\) does not broadcast"),
            ({"mask": masks.key_lengths([1, 2, 3])}, ValueError, r"lengths of shape \(3,\) do not broadcast"),
            ({"mask": masks.documents([0, 1])}, ValueError, "there are 7 keys but ids for 2"),
            ({"mask": masks.block_sparse(np.ones((4, 2, 2), bool), 4)}, ValueError, "does not broadcast .* 3 heads"),
            ({"mask": masks.where(lambda b, h, i, j: i + j)}, TypeError, "masks.where must return booleans"),
            ({"mask": np.full((5, 7), np.nan)}, ValueError, "mask contains NaN; use -inf to forbid a key"),
            ({"mask": np.full((5, 7), np.inf)}, ValueError, r"mask contains \+inf; use -inf to forbid a key"),
            ({"bias": np.ones((5, 7), int)}, TypeError, "bias must be float16, bfloat16, .* got int64"),
            ({"bias": np.ones((3, 3, 5, 7))}, ValueError, r"bias of shape \(3, 3, 5, 7\) does not broadcast to"),
            ({"bias": np.full((5, 7), np.nan)}, ValueError, "bias contains NaN; use -inf to forbid a key"),
            ({"bias": np.full((5, 7), np.inf)}, ValueError, r"bias contains \+inf; use -inf to forbid a key"),
            ({"bias": biases.alibi(4)}, ValueError, "the bias is for 4 heads but there are 3"),
            ({"bias": np.ones((8,)), "mask": np.zeros((5, 7))}, ValueError, r"bias of shape \(8,\) does not broadcast"),
            ({"bias": np.full(7, np.inf), "mask": np.full((5, 7), -np.inf)}, ValueError, r"bias contains \+inf"),
            ({"scale": np.nan}, ValueError, "scale must be finite, got nan"),
            ({"scale": "1"}, TypeError, "scale must be a number, got '1' of type str"),
            ({"softcap": 0.0}, ValueError, "softcap must be greater than 0, got 0"),
            ({"softcap": -2.0}, ValueError, "softcap must be greater than 0, got -2"),
            ({"sinks": np.ones(4)}, ValueError, r"sinks need one number per head, shape \(3,\), got shape \(4,\)"),
            ({"sinks": np.ones((3, 1))}, ValueError, r"sinks need one number per head, .* got shape \(3, 1\)"),
            ({"sinks": np.array([0, np.nan, 0])}, ValueError, "sinks must be numbers or -inf"),
            ({"dropout": 0.5}, ValueError, "dropout=0.5 needs a seed: the same seed always drops the same weights"),
            ({"dropout": 1.0, "seed": 0}, ValueError, "dropout must be at least 0 and less than 1, got 1"),
            ({"dropout": -0.1, "seed": 0}, ValueError, "dropout must be at least 0 and less than 1, got -0.1"),
            ({"dropout": 0.5, "seed": -1}, ValueError, "seed must be at least 0, got -1"),
            ({"dropout": 0.5, "seed": 1.5}, TypeError, "seed must be a whole number, got 1.5"),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("call", [attention, explain], ids=["attention", "explain"])
    def test_refused(self, qkv, call, change, error, message, unchecked):
        arguments = dict(zip("qkv", qkv, strict=True)) | change
        with pytest.raises(error, match=message):
            call(**arguments)

    @pytest.mark.parametrize("name", ["k", "v", "mask", "bias", "sinks"])
    def test_tensors_beside_arrays_are_refused_with_advice(self, qkv, name, unchecked):
        arguments = dict(zip("qkv", qkv, strict=True)) | {name: torch.zeros(2, 3, 7, 11)}
        with pytest.raises(TypeError, match=rf"{name} is a torch tensor and q is not; .* \({name}.numpy\(\) shares"):
            attention(**arguments)

    def test_arrays_beside_tensors_are_refused_with_advice(self, qkv, unchecked):
        q, k, v = qkv
        with pytest.raises(TypeError, match=r"k must be a torch tensor.*, got a NumPy array"):
            attention(torch.from_numpy(q), k, v)

    def test_tensors_in_tensors_out(self, qkv):
        tensors = [torch.from_numpy(x) for x in qkv]
        expected, sums = attention(*qkv, mask=masks.causal(), return_lse=True)
        output, lse = attention(*tensors, mask=masks.causal(), return_lse=True)
        assert isinstance(output, torch.Tensor)
        np.testing.assert_array_equal(output.numpy(), expected)
        np.testing.assert_array_equal(lse.numpy(), sums)
        assert explain(*tensors, mask=masks.causal()) == explain(*qkv, mask=masks.causal())

    def test_strict_on_tensors(self, qkv):
        tensors = [torch.from_numpy(x) for x in qkv]
        rule = masks.where(lambda batch, head, query, key: (query + key) % 2 == 0)
        with pytest.raises(ValueError, match="strict: this call would be slow"):
            attention(*tensors, mask=rule, strict=True)

    def test_a_mask_with_a_head_axis_for_scores_without(self, rng):
        q = rng.standard_normal((5, 3))
        with pytest.raises(ValueError, match=r"the scores have none: use mask\[..., 0, :, :\]"):
            attention(q, q, q, mask=np.ones((1, 5, 5), bool))

    @pytest.mark.parametrize("scale", [1, np.float32(0.5), np.int64(2)])
    def test_any_number_is_a_scale(self, qkv, scale, unchecked):
        np.testing.assert_array_equal(attention(*qkv, scale=scale), attention(*qkv, scale=float(scale)))


DOORS = {
    "attention": (attention, np.asarray),
    "explain": (explain, np.asarray),
    "look": (look, np.asarray),
    "textbook": (scaled_dot_product_attention, np.asarray),
    "flash": (flash_attention, np.asarray),
    "torch.attention": (cht.attention, torch.from_numpy),
    "torch.explain": (cht.explain, torch.from_numpy),
}


class TestSignatures:
    """What does alike things takes alike arguments, and all of them by name."""

    @pytest.mark.parametrize("name", DOORS)
    def test_the_mask_comes_fourth_and_options_in_one_order(self, name):
        taken = inspect.signature(DOORS[name][0]).parameters
        assert [x.lower() for x in list(taken)[:4]] == ["q", "k", "v", "mask"]
        assert [p.kind for p in taken.values()][3:5] == [Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY]
        order = [x for x in inspect.signature(explain).parameters if x in taken]
        assert [x for x in taken if x in order] == order

    @pytest.mark.parametrize("name", DOORS)
    def test_a_mask_in_fourth_place_is_the_mask(self, qkv, name):
        function, kind = DOORS[name]
        arguments = [kind(x) for x in qkv]
        a, b = function(*arguments, masks.prefix(0)), function(*arguments, mask=masks.prefix(0))
        if "explain" in name:
            assert a == b
        else:
            outputs = [x.output if name == "look" else x[0] if isinstance(x, tuple) else x for x in (a, b)]
            assert all((np.asarray(x) == 0).all() for x in outputs)

    @pytest.mark.parametrize("module", [clearhead, cht, masks, biases, cht.biases], ids=lambda module: module.__name__)
    def test_nothing_hides_behind_stars(self, module):
        made_by_look = {"View"}
        for name in set(getattr(module, "__all__", dir(module))) - made_by_look:
            thing = getattr(module, name)
            if callable(thing) and getattr(thing, "__module__", "").startswith("clearhead") and name != "swapped":
                with contextlib.suppress(ValueError):  # a warning has no signature
                    kinds = {parameter.kind for parameter in inspect.signature(thing).parameters.values()}
                    assert not kinds & {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD}, name


class TestStrict:
    @pytest.mark.parametrize("name", ["attention", "look", "torch.attention"])
    def test_it_means_the_same_at_every_door(self, qkv, name):
        function, kind = DOORS[name]
        slow = ~masks.dilated(2)
        function(*map(kind, qkv), slow)
        function(*map(kind, qkv), masks.causal(), strict=True)
        with pytest.raises(
            ValueError, match="strict: this call would be slow: the mask cannot be said in runs of keys"
        ):
            function(*map(kind, qkv), slow, strict=True)

    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            ({"mask": ~masks.dilated(2)}, "the mask cannot be said in runs of keys"),
            (
                {"mask": np.zeros((5, 7)), "bias": np.zeros(7)},
                "the float mask and the bias were added up into one array",
            ),
        ],
    )
    def test_refuses_what_is_slow_and_says_why(self, qkv, options, reason):
        attention(*qkv, **options)
        with pytest.raises(ValueError, match=f"strict: this call would be slow: {reason}"):
            attention(*qkv, **options, strict=True)
        assert any(reason in line for line in explain(*qkv, **options).slow)
        assert f"slow       {reason}" in str(explain(*qkv, **options))

    def test_names_every_array_in_foreign_byte_order(self, qkv):
        q, k, v = qkv
        with pytest.raises(ValueError, match=r"k is stored in the byte order of another machine.*; v is stored"):
            attention(q, k.astype(">f4"), v.astype(">f4"), strict=True)

    def test_says_which_axis_was_taken_for_what_where_that_is_doubtful(self):
        mistaken = np.ones((2, 300, 8, 5), np.float32)
        assert "axes       (300 heads of 8 positions: the axes are" in str(explain(mistaken, mistaken, mistaken))
        right = mistaken.swapaxes(-3, -2)
        assert "axes" not in str(explain(right, right, right))

    @pytest.mark.parametrize(
        ("q", "k", "doubt"),
        [
            ((2, 300, 8, 5), (2, 100, 8, 5), "300 heads of 8 queries, 100 heads of 8 keys: .* if the 300 and 100 are"),
            ((2, 1, 8, 5), (2, 300, 8, 5), "1 heads of 8 queries, 300 heads of 8 keys: .* if the 1 and 300 are"),
            ((2, 300, 8, 5), (2, 300, 2, 5), "300 heads of 8 queries, 300 heads of 2 keys: .* if the 300 are"),
            ((2, 32, 1, 5), (2, 8, 5, 5), None),  # the first steps of decoding: one head cannot share five
            ((2, 32, 3, 5), (2, 32, 5, 5), None),
        ],
    )
    def test_axes_are_doubtful_only_where_they_could_be_swapped(self, q, k, doubt):
        said = str(explain(*(np.ones(shape, np.float32) for shape in (q, k, k))))
        assert re.search(rf"axes       \({doubt}", said) if doubt else "axes" not in said

    def test_positions_where_heads_are_and_other_numbers_of_them(self):
        q, k = np.ones((2, 300, 8, 5), np.float32), np.ones((2, 200, 8, 5), np.float32)
        for array in (np.asarray, torch.from_numpy):
            with pytest.raises(ValueError, match=r"if the 300 and 200 are the positions, give q, k and v as"):
                attention(*(array(x) for x in (q, k, k)))
        with pytest.raises(ValueError, match=r"number of key/value heads$"):  # twelve heads and eight, and no doubt
            attention(*(np.ones((2, h, 300, 5), np.float32) for h in (12, 8, 8)))

    def test_says_when_there_are_too_many_batch_axes(self, qkv):
        q, k, v = (x.reshape(1, 1, 1, 1, 1, *x.shape) for x in qkv)
        with pytest.raises(ValueError, match="6 batch axes were made one"):
            attention(q, k, v, strict=True)

    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"mask": masks.causal() & masks.window(3)},
            {"mask": np.ones((5, 7), bool)},
            {"mask": np.zeros((5, 7))},
            {"bias": biases.alibi(3), "mask": masks.causal() & np.ones((5, 7), bool)},
            {"bias": np.zeros((3, 5, 1)), "softcap": 2.0, "sinks": np.zeros(3), "dropout": 0.5, "seed": 1},
        ],
    )
    def test_lets_what_is_fast_pass(self, qkv, options):
        attention(*qkv, **options, strict=True)
        assert explain(*qkv, **options, strict=True).slow == ()


class TestExplain:
    def test_says_what_a_call_does(self, rng):
        q, k = rng.standard_normal((2, 4, 700, 64), np.float32), rng.standard_normal((2, 4, 900, 64), np.float32)
        plan = explain(q, k, k, mask=masks.causal())
        assert plan.path.startswith("forward (")
        assert "float32 arithmetic" in plan.path
        assert plan.shape == "q (2, 4, 700, 64), k (2, 4, 900, 64), v (2, 4, 900, 64), float32"
        assert plan.tasks > 1
        for word in ("path", "call", "work", "memory", "tiles skipped", "MiB"):
            assert word in str(plan)
        assert "slow" not in str(plan)

    @pytest.mark.parametrize(
        ("shape", "n_k", "kv", "words"),
        [
            ((2, 8, 1, 16), 300, (2, 2), ["decode", "4 query heads that share keys are folded into one panel"]),
            ((1, 1, 16), 9000, (1,), ["decode", "keys are split into"]),
            ((8, 300, 16), 300, (2,), ["forward", "panels of"]),
        ],
    )
    def test_says_why(self, shape, n_k, kv, words):
        problem = build(row("explained", shape, n_k, kv=kv))
        plan = explain(*problem.arrays)
        for word in words:
            assert word in f"{plan.path}: {plan.reason}"

    def test_says_what_is_converted(self, rng):
        q = rng.standard_normal((3, 70, 16), np.float32)
        half, spread = q.astype(ml_dtypes.bfloat16), np.repeat(q, 2, axis=-1)[..., ::2]
        assert "converted" not in explain(q, q, q).reason
        assert "keys are converted a block at a time" in explain(q, half, q).reason
        assert "values are converted a block at a time" in explain(q, q, spread).reason

    @pytest.mark.parametrize(
        "mask",
        [
            None,
            masks.causal(),
            masks.causal() & masks.window(100),
            masks.key_lengths([300, 7]),
            masks.documents(np.arange(1000) // 300) & masks.causal(),
            masks.block_sparse(np.eye(10, dtype=bool), 100),
            masks.array(np.arange(1000) < 200),
            masks.where(lambda b, h, i, j: (j > 500) & (i % 2 == 0)),
            masks.prefix(0),
        ],
        ids=range(9),
    )
    def test_counts_the_tiles_a_mask_empties(self, mask):
        """Counted again from the mask written out, tile by tile."""
        q = np.zeros((2, 3, 1000, 8), np.float32)
        plan = explain(q, q, q, mask=mask)
        width, block = launch.plan_of(prepare(q, q, q, mask=mask)).width, BLOCK
        everything = np.ones((2, 3, 1000, 1000), bool)
        allowed = everything if mask is None else mask.array(1000, batch_shape=(2,), heads=3)
        tiles = [
            allowed[b, h, i : i + width, j : j + block].any()
            for b, h in itertools.product(range(2), range(3))
            for i in range(0, 1000, width)
            for j in range(0, 1000, block)
        ]
        assert (plan.tiles, plan.tiles_skipped) == (len(tiles), tiles.count(False))

    def test_memory_does_not_grow_with_the_square(self):
        def needed(n, mask):
            q = np.broadcast_to(np.float32(0), (8, n, 64))
            return explain(q, q, q, mask=mask).bytes

        for mask in (None, masks.causal(), masks.causal() & masks.window(256)):
            assert needed(40_000, mask) < 2.2 * needed(20_000, mask)
            assert needed(40_000, mask) < 8 * 40_000 * 64 * 4 + 2**25  # the output and little more

    def test_a_strip_of_a_rule_is_in_the_memory(self):
        q = np.zeros((1, 2000, 8), np.float32)
        with_rule = explain(q, q, q, mask=~masks.dilated(2)).bytes
        assert with_rule - explain(q, q, q).bytes >= 256 * 2000  # a strip of 256 queries, one byte for each key

    def test_nothing_is_run(self, monkeypatch, qkv):
        monkeypatch.setattr(launch, "spread", lambda *_: pytest.fail("explain ran the kernel"))
        explain(*qkv, mask=masks.causal(), return_lse=True)

    @pytest.mark.parametrize("shape", [(0, 3, 5, 11), (2, 3, 0, 11), (2, 0, 5, 11)])
    @pytest.mark.parametrize("mask", [masks.causal(), masks.dilated(2) | masks.prefix(1)], ids=["runs", "rule"])
    @pytest.mark.parametrize("of", ["attention", "gradients", "look"])
    def test_nothing_to_do(self, shape, mask, of):
        q = np.zeros(shape, np.float32)
        plan = explain(q, q, q, mask=mask, of=of)
        assert plan.tiles == plan.tiles_skipped == 0
        assert "0 of 0 tiles skipped (none)" in str(plan)

    @pytest.mark.parametrize("of", ["attention", "gradients", "look"])
    @pytest.mark.parametrize(
        ("mask", "together"),
        [(masks.causal(), 1), (masks.key_lengths(900), 3), (masks.array(np.tri(37, 1000, 900, bool)), 3)],
        ids=["growing", "runs", "array"],
    )
    def test_counts_the_tiles_of_folded_heads(self, of, mask, together):
        """Heads that share keys lie in one panel one after another; a tile is used if any of its rows needs it.

        Not in attention where each query sees more than the one before: the last query of a panel then costs the most.
        """
        q, k = np.zeros((2, 6, 37, 8), np.float32), np.zeros((2, 2, 1000, 8), np.float32)
        plan = explain(q, k, k, mask=mask, of=of)
        folded, width = plan.cut.folded_heads, plan.cut.panel_queries
        assert folded == {"attention": together, "gradients": 3, "look": 1}[of]
        allowed = np.tile(mask.array(37, 1000), (folded, 1))
        tiles = [
            allowed[i : i + width, j : min(j + BLOCK, part + plan.cut.part_keys)].any()
            for i in range(0, len(allowed), width)
            for part in range(0, 1000, plan.cut.part_keys)
            for j in range(part, min(part + plan.cut.part_keys, 1000), BLOCK)
        ]
        heads = 2 * 6 // folded
        assert (plan.tiles, plan.tiles_skipped) == (heads * len(tiles), heads * tiles.count(False))

    def test_is_data(self, rng):
        q = rng.standard_normal((2, 4, 700, 64), np.float32)
        plan = explain(q, q, q, mask=masks.causal(), return_lse=True)
        assert (plan.work, plan.way, plan.arithmetic, plan.dtype) == ("attention", "forward", "float32", "float32")
        assert plan.shapes == ((2, 4, 700, 64),) * 3
        assert plan.cut.panels * plan.cut.panel_queries >= 700
        assert plan.cut.key_parts == plan.cut.folded_heads == 1
        assert plan.cut.part_keys == 700
        assert plan.memory["output"] == q.nbytes
        assert plan.memory["lse"] == 2 * 4 * 700 * 4
        assert sum(plan.memory.values()) == plan.bytes

    def test_gradients_and_a_look_are_explained_too(self, rng):
        q = rng.standard_normal((2, 4, 700, 64), np.float32)
        back = explain(q, q, q, mask=masks.causal(), of="gradients")
        assert back.path.startswith("backward (")
        assert back.memory["gradients"] >= 3 * q.nbytes
        looked = explain(q, q, q, of="look", top_k=3, map_size=100)
        assert looked.path.startswith("watched (")
        assert looked.memory["map"] == 8 * 88 * 88 * 4  # cells of eight positions
        assert looked.bytes > explain(q, q, q, of="look", top_k=0, map_size=0).bytes
        bare = explain(q, q, of="look", top_k=3, map_size=100)  # a look needs no values
        assert bare.memory == {**looked.memory, **bare.memory}
        assert bare.memory["output"] == 0
        with pytest.raises(TypeError, match='explain needs v, as attention does; only of="look" goes without'):
            explain(q, q)
        with pytest.raises(ValueError, match="of must be one of 'attention', 'gradients', 'look', got 'backward'"):
            explain(q, q, q, of="backward")


class TestMerge:
    @pytest.fixture
    def long(self, rng):
        return tuple(rng.standard_normal((2, 3, n, d)) for n, d in ((37, 11), (211, 11), (211, 13)))

    @pytest.mark.parametrize("cuts", [[100], [1, 2, 150], [0, 64, 64, 211]])
    def test_parts_of_the_keys_join_to_the_whole(self, long, cuts):
        q, k, v = long
        edges = [0, *cuts, 211]
        parts = [
            attention(q, k[..., a:b, :], v[..., a:b, :], return_lse=True) for a, b in itertools.pairwise(edges)
        ]  # fmt: skip
        for got, expected in zip(merge(parts), attention(q, k, v, return_lse=True), strict=True):
            np.testing.assert_allclose(got, expected, rtol=0, atol=2e-15)

    def test_parts_under_a_mask_where_some_queries_see_nothing(self, long):
        """The first part is all in the future of some queries."""
        q, k, v = long
        whole = attention(q, k, v, mask=masks.causal(offset=0), return_lse=True)
        parts = [
            attention(q, k[..., a:b, :], v[..., a:b, :], mask=masks.causal(offset=-a), return_lse=True)
            for a, b in ((30, 211), (0, 5), (5, 30))
        ]
        assert np.isneginf(parts[0][1][..., :30]).all()
        for got, expected in zip(merge(parts), whole, strict=True):
            np.testing.assert_allclose(got, expected, rtol=0, atol=2e-15)

    def test_sinks_belong_to_one_part(self, long, rng):
        q, k, v = long
        sinks = rng.standard_normal(3)
        whole = attention(q, k, v, sinks=sinks, return_lse=True)
        parts = [
            attention(q, k[..., :50, :], v[..., :50, :], return_lse=True),
            attention(q, k[..., 50:, :], v[..., 50:, :], sinks=sinks, return_lse=True),
        ]
        for got, expected in zip(merge(parts), whole, strict=True):
            np.testing.assert_allclose(got, expected, rtol=0, atol=2e-15)

    def test_one_part_is_itself(self, qkv):
        part = attention(*qkv, mask=masks.causal(offset=-2), return_lse=True)
        for got, expected in zip(merge([part]), part, strict=True):
            np.testing.assert_array_equal(got, expected)

    def test_parts_that_saw_nothing_change_nothing(self, qkv):
        part = attention(*qkv, return_lse=True)
        nothing = attention(*qkv, mask=masks.prefix(0), return_lse=True)
        for got, expected in zip(merge([nothing, part, nothing]), part, strict=True):
            np.testing.assert_array_equal(got, expected)
        for got, expected in zip(merge([nothing, nothing]), nothing, strict=True):
            np.testing.assert_array_equal(got, expected)

    def test_scores_of_any_size(self, rng):
        q, k = 300 * rng.standard_normal((2, 5, 3)), rng.standard_normal((2, 7, 3))
        whole = attention(q, k, k, return_lse=True)
        parts = [attention(q, k[:, a:b], k[:, a:b], return_lse=True) for a, b in ((0, 4), (4, 7))]
        for got, expected in zip(merge(parts), whole, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-15, atol=2e-14)

    def test_the_digits_of_a_float64_lse_are_used(self, rng):
        """Half precision queries against float64 keys: the lse is float64, and large ones differ in late digits."""
        output = rng.standard_normal((2, 5, 3)).astype(np.float16)
        far = np.full((2, 5), 1e8)
        merged, lse = merge([(output, far), (np.zeros_like(output), far + np.log(3.0))])
        np.testing.assert_allclose(merged, output / 4, rtol=1e-3)
        np.testing.assert_allclose(lse - 1e8, np.log(4.0), rtol=1e-7)

    def test_types_stay(self, qkv):
        half = [x.astype(np.float16) for x in qkv]
        parts = [attention(*half, return_lse=True)] * 2
        output, lse = merge(parts)
        assert (output.dtype, lse.dtype) == (np.float16, np.float32)
        np.testing.assert_array_equal(output, parts[0][0])
        np.testing.assert_allclose(lse, parts[0][1] + np.log(2), rtol=1e-6)

    @pytest.mark.parametrize(
        ("parts", "error", "message"),
        [
            ([], ValueError, r"merge needs at least one \(output, lse\) pair, got none"),
            ([(np.ones((5, 3)), np.ones(4))], ValueError, r"part 0 has an output of shape \(5, 3\) and an lse"),
            (
                [(np.ones((5, 3)), np.ones(5)), (np.ones((5, 4)), np.ones(5))],
                ValueError,
                r"part 1 has an output of shape \(5, 4\) .* expected \(5, 3\) and \(5,\), as in part 0",
            ),
            ([(np.ones((5, 3), int), np.ones(5))], TypeError, "output 0 must be float16"),
            ([(np.ones((5, 3)), np.ones(5, int))], TypeError, "lse 0 must be float16"),
            ([(np.ones(5), np.ones(()))], ValueError, "output 0 needs at least 2 dimensions"),
        ],
    )  # fmt: skip
    def test_refused(self, parts, error, message, unchecked):
        with pytest.raises(error, match=message):
            merge(parts)


class TestWhatIsPromised:
    @pytest.mark.parametrize(
        "case",
        [
            row("dense", (2, 3, 300, 32), 400),
            row("causal", (2, 3, 300, 32), 400, mask="causal()"),
            row("float64", (2, 3, 300, 32), 400, dtype="float64", mask="window(100)"),
            row("split keys", (2, 3, 32), 9000),
            row("folded", (1, 8, 1, 64), 5000, kv=(1, 2), dtype="bfloat16"),
            row("bfloat16", (2, 3, 300, 33), 401, dtype="bfloat16", mask="causal()"),
            row("dropout", (2, 3, 300, 32), 400, dropout=0.3, seed=1, sinks="draw(3)"),
            row("a rule", (2, 3, 600, 32), 400, mask="~dilated(3)", bias="alibi(3)"),
        ],
        ids=str,
    )
    def test_the_same_bits_for_any_number_of_threads(self, case, threads):
        problem = build(case)
        answers = []
        for count in (1, 2, 3, 5, 2):
            threads(count)
            answers.append(attention(*problem.arrays, **problem.options, return_lse=True))
        for output, lse in answers[1:]:
            assert output.tobytes() == answers[0][0].tobytes()
            assert lse.tobytes() == answers[0][1].tobytes()

    @pytest.mark.parametrize("threads_asked", [0, -1, 1.5, True])
    def test_a_number_of_threads(self, threads_asked, threads, unchecked):
        with pytest.raises((ValueError, TypeError), match="threads must be"):
            threads(threads_asked)

    @pytest.mark.parametrize("strange", [0.0, 1e30, np.nan, np.inf])
    @pytest.mark.parametrize("first", [0, 1, 100, 192, 299])
    def test_causality_bit_for_bit(self, rng, strange, first):
        q, k, v = (rng.standard_normal((2, 300, 17), np.float32) for _ in range(3))
        before = attention(q, k, v, mask=masks.causal(), return_lse=True)
        q[:, first:], k[:, first:], v[:, first:] = strange, strange, strange
        after = attention(q, k, v, mask=masks.causal(), return_lse=True)
        for x, y in zip(before, after, strict=True):
            assert x[:, :first].tobytes() == y[:, :first].tobytes()

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("mask", [None, masks.causal()])
    def test_packed_documents_are_as_good_as_separate_calls(self, rng, dtype, mask):
        lengths = [1, 30, 7, 256, 64, 193]
        edges = np.cumsum([0, *lengths])
        q, k, v = (rng.standard_normal((3, edges[-1], 16)).astype(dtype) for _ in range(3))
        packed = masks.documents(boundaries=edges)
        together = attention(q, k, v, mask=packed if mask is None else packed & mask)
        apart = [attention(*(x[:, a:b] for x in (q, k, v)), mask=mask) for a, b in itertools.pairwise(edges)]
        np.testing.assert_allclose(together, np.concatenate(apart, axis=1), rtol=0, atol=16 * np.finfo(dtype).eps)

    def test_packed_documents_skip_each_other(self, rng):
        q = rng.standard_normal((1, 8192, 16), np.float32)
        plan = explain(q, q, q, mask=masks.documents(boundaries=np.arange(0, 8193, 1024)))
        assert plan.tiles_skipped / plan.tiles > 0.8

    def test_a_document_of_its_own_never_hears_of_the_others(self, rng):
        q, k, v = (rng.standard_normal((2, 300, 17), np.float32) for _ in range(3))
        mask = masks.documents(boundaries=[0, 110, 300])
        before = attention(q, k, v, mask=mask)
        k[:, :110], v[:, :110] = np.nan, np.inf
        assert attention(q, k, v, mask=mask)[:, 110:].tobytes() == before[:, 110:].tobytes()

    def test_arguments_are_left_alone(self, rng):
        arrays = {
            "q": rng.standard_normal((2, 3, 37, 11), np.float32),
            "k": rng.standard_normal((2, 3, 211, 11), np.float32),
            "v": rng.standard_normal((2, 3, 211, 13), np.float32),
            "mask": rng.random((37, 211)) < 0.5,
            "bias": rng.standard_normal((3, 37, 211)),
            "sinks": rng.standard_normal(3),
        }
        before = {name: x.copy() for name, x in arrays.items()}
        attention(**arrays, scale=-0.3, softcap=2.0, dropout=0.2, seed=1)
        for name, x in arrays.items():
            np.testing.assert_array_equal(x, before[name])

    def test_the_output_is_new_and_contiguous(self, qkv):
        output, lse = attention(*qkv, return_lse=True)
        for x in (output, lse):
            assert x.flags.c_contiguous
            assert x.flags.writeable
            assert not any(np.shares_memory(x, y) for y in qkv)

    def test_a_query_with_no_key_left(self, qkv):
        output, lse = attention(*qkv, mask=masks.causal(offset=-3), return_lse=True)
        assert not output[..., :3, :].any()
        assert np.isneginf(lse[..., :3]).all()
        assert np.isfinite(lse[..., 3:]).all()

    def test_no_values_but_sums(self, qkv):
        """d_v = 0: nothing to mix, and lse is what it is."""
        q, k, v = qkv
        output, lse = attention(q, k, v[..., :0], return_lse=True)
        assert output.shape == (2, 3, 5, 0)
        np.testing.assert_array_equal(lse, attention(q, k, v, return_lse=True)[1])

    def test_no_values_but_sums_of_split_keys(self, rng):
        q, k = rng.standard_normal((1, 2, 8), np.float32), rng.standard_normal((1, 3000, 8), np.float32)
        output, lse = attention(q, k, k[..., :0], return_lse=True)
        assert output.shape == (1, 2, 0)
        np.testing.assert_array_equal(lse, attention(q, k, k, return_lse=True)[1])

    def test_lse_gives_back_the_weights(self, rng):
        q, k, v = (rng.standard_normal((2, 3, 37, 11)) for _ in range(3))
        _, lse = attention(q, k, v, mask=masks.causal(), return_lse=True)
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(11)
        weights = np.where(masks.causal().array(37), np.exp(scores - lse[..., None]), 0)
        expected = scaled_dot_product_attention(q, k, v, masks.causal().array(37))[1]
        np.testing.assert_allclose(weights, expected, rtol=0, atol=1e-14)
