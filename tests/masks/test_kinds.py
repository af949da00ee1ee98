"""What each mask means, when it can be said in runs of keys, and that nothing is n × n."""

from __future__ import annotations

import sys
import tracemalloc

import numpy as np
import pytest

from clearhead import masks

from .written import by_definition, from_mask, from_ranges, made

BATCH, HEADS = (2,), 3
SQUARE = masks.Sizes(211, 211, BATCH, HEADS)


class TestMeaning:
    """n_q = 5 queries, the last of n_k = 11 keys, unless said otherwise."""

    @pytest.mark.parametrize(
        ("text", "rule"),
        {
            "causal()": lambda i, j: j <= i + 6,
            "causal(offset=0)": lambda i, j: j <= i,
            "causal(offset=-3)": lambda i, j: j <= i - 3,
            "window(1)": lambda i, j: j == i + 6,
            "window(4)": lambda i, j: i + 6 - 3 <= j <= i + 6,
            "window(4, offset=0)": lambda i, j: i - 3 <= j <= i,
            "window(2, 1)": lambda i, j: i + 6 - 2 <= j <= i + 6 + 1,
            "window(0, 0)": lambda i, j: j == i + 6,
            "window(2, 3, offset=1)": lambda i, j: i + 1 - 2 <= j <= i + 1 + 3,
            "prefix(4)": lambda i, j: j < 4,
            "prefix(0)": lambda i, j: False,
            "key_lengths(7)": lambda i, j: j < 7,
            "documents([0, 0, 0, 1, 1, 1, 1, 4, 4, 4, 4])": lambda i, j: (
                [0, 0, 0, 1, 1, 1, 1, 4, 4, 4, 4][i + 6] == [0, 0, 0, 1, 1, 1, 1, 4, 4, 4, 4][j]
            ),
            "documents(np.arange(11) % 3)": lambda i, j: (i + 6) % 3 == j % 3,
            "documents(boundaries=[0, 7, 7, 9, 11])": lambda i, j: (
                [0] * 7 + [2] * 2 + [3] * 2)[i + 6] == ([0] * 7 + [2] * 2 + [3] * 2)[j],
            "dilated(3)": lambda i, j: (i + 6 - j) % 3 == 0,
            "dilated(1)": lambda i, j: True,
            "block_sparse([[True, False, True], [False, True, False]], 4)": lambda i, j: (
                [[1, 0, 1], [0, 1, 0]][i // 4][j // 4]
            ),
            "array(np.arange(11) % 2 == 0)": lambda i, j: j % 2 == 0,
            "array(np.arange(5)[:, None] > 2)": lambda i, j: i > 2,
            "where(lambda b, h, i, j: (i + 2 * j) % 5 == 0)": lambda i, j: (i + 2 * j) % 5 == 0,
            "causal() & window(4)": lambda i, j: j <= i + 6 and j > i + 2,
            "causal(offset=0) | prefix(4)": lambda i, j: j <= i or j < 4,
            "~causal(offset=0)": lambda i, j: j > i,
        }.items(),
    )  # fmt: skip
    def test_each_mask_is_its_definition(self, text, rule):
        np.testing.assert_array_equal(made(text).array(5, 11), by_definition(rule, 5, 11))

    def test_one_length_for_each_batch_entry(self):
        allowed = masks.key_lengths([[3, 0], [11, 5]]).array(5, 11, batch_shape=(2, 2), heads=3)
        expected = np.arange(11) < np.array([[3, 0], [11, 5]])[..., None, None, None]
        np.testing.assert_array_equal(allowed, np.broadcast_to(expected, (2, 2, 3, 5, 11)))

    def test_documents_of_each_batch_entry(self):
        ids = np.array([[0, 0, 1, 1, 1], [0, 1, 2, 2, 2]])
        allowed = masks.documents(ids).array(3, 5, batch_shape=(2,))
        expected = ids[:, 2:, None] == ids[:, None, :]
        np.testing.assert_array_equal(allowed, expected)

    def test_where_gets_the_numbers_of_batch_and_head(self):
        allowed = masks.where(lambda b, h, i, j: b * 3 + h == j).array(2, 6, batch_shape=(2,), heads=3)
        expected = np.arange(6).reshape(2, 3, 1, 1) == np.arange(6)
        np.testing.assert_array_equal(allowed, np.broadcast_to(expected, (2, 3, 2, 6)))

    def test_where_counts_over_all_batch_axes(self):
        allowed = masks.where(lambda b, h, i, j: b == j).array(1, 6, batch_shape=(2, 3), heads=1)
        np.testing.assert_array_equal(allowed.reshape(6, 6), np.eye(6, dtype=bool))

    def test_arrays_and_layouts_broadcast_over_batch_and_heads(self, rng):
        allowed = rng.random((2, 1, 5, 7)) < 0.5
        np.testing.assert_array_equal(
            masks.array(allowed).array(5, 7, batch_shape=(2,), heads=3), np.broadcast_to(allowed, (2, 3, 5, 7))
        )
        layout = rng.random((3, 2, 3)) < 0.5
        blocks = np.kron(layout, np.ones((3, 3), dtype=bool))[:, :5, :7]
        np.testing.assert_array_equal(
            masks.block_sparse(layout, 3).array(5, 7, batch_shape=(2,), heads=3), np.broadcast_to(blocks, (2, 3, 5, 7))
        )

    def test_more_queries_than_keys(self):
        """The first queries stand before the first key: under causal they see nothing."""
        np.testing.assert_array_equal(masks.causal().array(7, 3), by_definition(lambda i, j: j <= i - 4, 7, 3))
        np.testing.assert_array_equal(
            masks.window(2, 1).array(7, 3), by_definition(lambda i, j: i - 6 <= j <= i - 3, 7, 3)
        )  # fmt: skip

    def test_a_square_unless_said_otherwise(self):
        np.testing.assert_array_equal(masks.causal().array(4), np.tri(4, dtype=bool))

    @pytest.mark.parametrize("far", [10**9, sys.maxsize, 10**30])
    def test_a_window_of_any_size_is_everything(self, far):
        everything, sizes = np.ones((5, 11), dtype=bool), masks.Sizes(5, 11)
        for mask in (
            masks.window(far, far),
            masks.causal(offset=far),
            masks.window(far, offset=far) | masks.window(far, far),
        ):
            np.testing.assert_array_equal(mask.array(5, 11), everything)
            np.testing.assert_array_equal(from_ranges(mask.ranges(sizes), sizes)[0], everything)
        assert not masks.causal(offset=-far).array(5, 11).any()

    @pytest.mark.parametrize("far", [11, sys.maxsize, 10**30])
    def test_a_step_of_any_size_leaves_the_query_its_own_key(self, far):
        np.testing.assert_array_equal(masks.dilated(far).array(5, 11), np.eye(5, 11, k=6, dtype=bool))

    @pytest.mark.parametrize(("n_q", "n_k"), [(0, 0), (0, 5), (5, 0)])
    @pytest.mark.parametrize(
        "text",
        ["causal()", "window(3)", "prefix(2)", "dilated(2)", "key_lengths([3, 0])", "where(lambda b, h, i, j: i < j)"],
    )
    def test_nothing_to_mask(self, text, n_q, n_k):
        assert made(text).array(n_q, n_k, batch_shape=BATCH, heads=HEADS).shape == (2, 3, n_q, n_k)
        assert made(f"~{text}").array(n_q, n_k, batch_shape=BATCH, heads=HEADS).shape == (2, 3, n_q, n_k)

    def test_no_batch_entries_and_no_heads(self):
        assert masks.causal().array(3, 5, batch_shape=(0,), heads=2).shape == (0, 2, 3, 5)
        assert masks.causal().array(3, 5, batch_shape=(2,), heads=0).shape == (2, 0, 3, 5)


class TestRanges:
    @pytest.mark.parametrize(
        ("text", "runs"),
        [
            ("causal()", 1),
            ("causal() & window(29)", 1),
            ("causal() | prefix(10)", 1),
            ("window(29) | prefix(3)", 2),
            ("~window(29)", 2),
            ("~(window(29) | prefix(3))", 2),
            ("documents(np.arange(211) // 37) & causal()", 1),
            ("documents(boundaries=[0, 50, 211])", 1),
            ("key_lengths([100, 7]) & window(29)", 1),
            ("~key_lengths([100, 7])", 1),
            ("prefix(0)", 1),
            ("block_sparse([[True, False], [True, True]], 106)", 1),
            ("block_sparse(np.eye(3)[::-1] + np.eye(3) > 0, 71)", 2),
        ],
    )
    def test_as_few_runs_as_there_are(self, text, runs):
        assert made(text).ranges(SQUARE).low.shape[-2] == runs

    @pytest.mark.parametrize("text", ["dilated(2)", "array(flags(.5, 211))", "where(lambda b, h, i, j: i < j)"])
    def test_what_cannot_be_said_in_runs(self, text):
        assert made(text).ranges(SQUARE) is None
        assert made(f"~{text}").ranges(SQUARE) is None
        assert made(f"causal() & {text}").ranges(SQUARE) is None
        assert made(f"{text} | causal()").ranges(SQUARE) is None

    def test_a_document_in_several_pieces_cannot(self):
        assert masks.documents([0, 1, 0]).ranges(masks.Sizes(3, 3)) is None
        assert masks.documents([0, 0, 1]).ranges(masks.Sizes(3, 3)) is not None
        assert masks.documents([[0, 0, 1], [0, 1, 0]]).ranges(masks.Sizes(3, 3, (2,))) is None

    @pytest.mark.parametrize(
        "ids", [[5, 5, 1, 1, 3], [[0, 0, 0, 1, 2], [2, 0, 0, 1, 1]], [[3, 3, 2, 1, 1], [1, 1, 3, 3, 3]]], ids=str
    )
    def test_documents_may_have_any_names(self, ids):
        """Out of order, and with the name of the last one of the batch entry before."""
        mask, sizes = masks.documents(ids), masks.Sizes(3, 5, np.shape(ids)[:-1])
        np.testing.assert_array_equal(from_ranges(mask.ranges(sizes), sizes), from_mask(mask, sizes))

    def test_documents_keep_what_they_were_given(self):
        ids = np.array([0, 0, 1, 1, 1])
        mask, sizes = masks.documents(ids), masks.Sizes(5, 5)
        before = from_mask(mask, sizes)
        ids[:] = 7
        np.testing.assert_array_equal(from_ranges(mask.ranges(sizes), sizes), before)

    def test_too_many_blocks_cannot(self):
        stripes = np.arange(2 * masks.MOST_RANGES + 1)[None] % 2 == 0
        assert masks.block_sparse(stripes, 1).ranges(masks.Sizes(1, stripes.size)) is None
        assert masks.block_sparse(stripes[:, 2:], 1).ranges(masks.Sizes(1, stripes.size - 2)) is not None


def by_place(query, key):
    return query >= key


class TestErrors:
    @pytest.mark.parametrize("function", [by_place, lambda i, j: i >= j, np.greater])
    def test_a_rule_of_query_and_key_alone_is_told_what_to_take(self, function):
        message = r"needs a function of \(batch, head, query, key\), and this one takes .*lambda b, h, i, j: …"
        with pytest.raises(TypeError, match=message):
            masks.where(function)

    def test_a_rule_may_take_any_number(self):
        mask = masks.where(lambda *places: places[2] >= places[3])
        np.testing.assert_array_equal(mask.array(5), masks.causal().array(5))

    @pytest.mark.parametrize(
        ("make", "error", "message"),
        [
            (
                lambda: masks.causal(4),
                TypeError,
                r"causal\(4\): causal\(\) takes no size, as a mask fits any; .* offset=",
            ),
            (lambda: masks.causal(offset=1.5), TypeError, "offset must be a whole number, got 1.5 of type float"),
            (lambda: masks.causal(offset=True), TypeError, "offset must be a whole number, got the boolean True"),
            (lambda: masks.window(0), ValueError, "window must be at least 1, got 0"),
            (lambda: masks.window(-1, 3), ValueError, "left must be at least 0, got -1"),
            (lambda: masks.window(3, -1), ValueError, "right must be at least 0, got -1"),
            (lambda: masks.window("3"), TypeError, "window must be a whole number, got '3' of type str"),
            (lambda: masks.window(3, offset=0.5), TypeError, "offset must be a whole number"),
            (lambda: masks.key_lengths([1.0]), TypeError, "lengths must be integers, one per batch entry, got float64"),
            (lambda: masks.key_lengths([3, -1]), ValueError, "lengths must not be negative, got -1"),
            (lambda: masks.prefix(-1), ValueError, "length must be at least 0, got -1"),
            (lambda: masks.documents(), ValueError, "documents needs either ids, one per key, or boundaries"),
            (lambda: masks.documents([0], boundaries=[0, 1]), ValueError, "needs either ids"),
            (lambda: masks.documents([0.0]), TypeError, r"ids must be integers of shape \(\*batch, n_k\), got float64"),
            (lambda: masks.documents(3), TypeError, "ids must be integers of shape"),
            (lambda: masks.documents(boundaries=[0]), ValueError, "boundaries must be at least two integers"),
            (lambda: masks.documents(boundaries=[0.0, 1.0]), ValueError, "boundaries must be at least two integers"),
            (lambda: masks.documents(boundaries=[1, 5]), ValueError, r"must start at 0 and not decrease, got \[1, 5\]"),
            (lambda: masks.documents(boundaries=[0, 5, 3]), ValueError, r"not decrease, got \[0, 5, 3\]"),
            (lambda: masks.dilated(0), ValueError, "step must be at least 1, got 0"),
            (lambda: masks.block_sparse([[1, 0]], 4), TypeError, "layout must be boolean with at least 2 dimensions"),
            (lambda: masks.block_sparse([True], 4), TypeError, r"at least 2 dimensions, got bool \(1,\)"),
            (lambda: masks.block_sparse([[True]], 0), ValueError, "block_size must be at least 1, got 0"),
            (lambda: masks.array([[0, 1]]), TypeError, r"allowed must be boolean \(True = may attend\), got int64"),
            (
                lambda: masks.where(3),
                TypeError,
                r"masks.where needs a function of \(batch, head, query, key\), got int",
            ),
        ],
    )
    def test_when_made(self, make, error, message, unchecked):
        with pytest.raises(error, match=message):
            make()

    @pytest.mark.parametrize(
        ("text", "error", "message"),
        [
            (
                "key_lengths([1, 2, 3])",
                ValueError,
                r"lengths of shape \(3,\) do not broadcast to the batch axes \(2,\)",
            ),
            ("documents([0, 1])", ValueError, "documents: there are 7 keys but ids for 2"),
            ("documents(np.zeros((3, 7), int))", ValueError, r"batch axes \(2,\) and 7 keys"),
            ("block_sparse([[True]], 4)", ValueError, r"5 queries and 7 keys in blocks of 4 need a layout of \(2, 2\)"),
            (
                "block_sparse(flags(.5, 5, 2, 2), 4)",
                ValueError,
                r"leading axes \(5,\) does not broadcast .* and 3 heads",
            ),
            ("block_sparse(flags(.5, 4, 1, 2, 2), 4)", ValueError, r"leading axes \(4, 1\) does not broadcast"),
        ],
    )
    def test_when_used(self, text, error, message):
        mask = made(text)
        for use in (
            lambda: mask.array(5, 7, batch_shape=(2,), heads=3),
            lambda: mask.ranges(masks.Sizes(5, 7, (2,), 3)),
        ):
            with pytest.raises(error, match=message):
                use()

    @pytest.mark.parametrize(
        ("text", "error", "message"),
        [
            ("array(flags(.5, 4, 7))", ValueError, r"mask of shape \(4, 7\) does not broadcast to n_q = 5"),
            ("array(flags(.5, 5, 6))", ValueError, r"mask of shape \(5, 6\) does not broadcast to n_k = 7"),
            ("array(flags(.5, 4, 5, 7))", ValueError, r"leading axes \(4,\) does not broadcast .* and 3 heads"),
            ("where(lambda b, h, i, j: i + j)", TypeError, "masks.where must return booleans, got int64"),
            (
                "where(lambda b, h, i, j: np.ones(3, bool))",
                ValueError,
                r"returned shape \(3,\), which does not broadcast",
            ),
            ("where(lambda b, h, i, j: flags(.5, 9, 2, 3, 5, 7))", ValueError, "which does not broadcast"),
        ],
    )
    def test_when_written_out(self, text, error, message):
        with pytest.raises(error, match=message):
            made(text).array(5, 7, batch_shape=(2,), heads=3)

    def test_documents_need_a_place_for_every_query(self):
        mask = masks.documents([0, 0, 1])
        for use in (lambda: mask.array(5, 3), lambda: mask.ranges(masks.Sizes(5, 3))):
            with pytest.raises(ValueError, match="documents: 5 queries cannot be the last positions of 3 keys"):
                use()

    def test_sizes_are_counts(self, unchecked):
        with pytest.raises(ValueError, match="n_q must be at least 0, got -1"):
            masks.causal().array(-1)


@pytest.mark.parametrize(
    "text",
    [
        "causal() & window(256)",
        "~causal() | window(256, 3)",
        "(causal() | prefix(100)) & key_lengths([150_000, 7])",
        "causal() & documents(np.arange(200_000) // 1000)",
        "documents(boundaries=np.arange(0, 200_001, 500))",
        "window(4096) & ~window(16)",
        "block_sparse(np.eye(200, dtype=bool), 1000)",
    ],
)
def test_no_mask_is_ever_n_by_n(text):
    """At n = 200,000 an n × n array of bytes would be 37 GiB."""
    n = 200_000
    tracemalloc.start()
    ranges = made(text).ranges(masks.Sizes(n, n, BATCH, HEADS))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert ranges is not None
    assert peak < 400 * n  # 76 MiB: a few dozen 64-bit numbers for each query and batch entry
