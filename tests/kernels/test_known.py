from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.forgetful import Forgetful

import clearhead
from clearhead import kernels, masks
from clearhead.call import prepare
from clearhead.kernels.job import Job
from clearhead.kernels.plan import forward_plan, shape_of
from clearhead.kernels.remembering import Remembered
from clearhead.kernels.rounds import WORDS
from clearhead.kernels.structs import first_word
from clearhead.kernels.target import PANEL, TARGET

rng = np.random.default_rng(0)


def arrays(*shapes, kind=np.float32):
    return [rng.standard_normal(shape).astype(kind) for shape in shapes]


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    calls = Forgetful(512)
    monkeypatch.setattr(kernels.known, "calls", calls)
    monkeypatch.setattr(kernels.known, "families", Remembered(64))
    monkeypatch.setattr(kernels.known, "kin", calls.relatives)
    return calls


KNOWN = {
    "plain": {},
    "causal": {"mask": masks.causal()},
    "joined": {"mask": masks.causal() & masks.window(3) & masks.key_lengths([5, 7])},
    "documents": {"mask": masks.documents(np.array([0, 0, 0, 1, 1, 2, 2]))},
    "dilated": {"mask": masks.dilated(2)},
    "scale and softcap": {"scale": 0.3, "softcap": 4.0},
    "lse": {"return_lse": True},
}


@pytest.mark.parametrize("kind", [np.float16, np.float32], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("return_lse", [False, True])
def test_keys_that_are_split_among_tasks(kind, return_lse, nothing_known):
    shapes = (2, 1, 16), (2, 2000, 16), (2, 2000, 16)
    assert "keys are split" in clearhead.explain(*arrays(*shapes)).reason
    clearhead.attention(*arrays(*shapes, kind=kind), return_lse=return_lse)
    assert len(nothing_known.values) == 1
    inputs = arrays(*shapes, kind=kind)
    again = clearhead.attention(*inputs, return_lse=return_lse)
    nothing_known.forget()
    np.testing.assert_equal(again, clearhead.attention(*inputs, return_lse=return_lse))


@pytest.mark.parametrize("options", KNOWN.values(), ids=KNOWN)
def test_a_call_like_one_before_gives_the_bits_of_one_that_is_new(options, nothing_known):
    shapes = (2, 4, 7, 8), (2, 2, 7, 8), (2, 2, 7, 5)
    clearhead.attention(*arrays(*shapes), **options)
    assert len(nothing_known.values) == 1
    inputs = arrays(*shapes)
    again = clearhead.attention(*inputs, **options)
    assert len(nothing_known.values) == 1
    nothing_known.forget()
    np.testing.assert_equal(again, clearhead.attention(*inputs, **options))


def test_one_head_without_an_axis(nothing_known):
    clearhead.attention(*arrays((3, 8), (5, 8), (5, 8)))
    q, k, v = arrays((3, 8), (5, 8), (5, 8))
    output, lse = clearhead.attention(q, k, v, return_lse=True)
    again, same = clearhead.attention(q, k, v), clearhead.attention(q, k, v, return_lse=True)[1]
    np.testing.assert_equal((again, same), (output, lse))
    assert again.shape == (3, 8)
    assert same.shape == (3,)


def test_what_somebody_else_can_change_is_not_remembered(nothing_known):
    q, k, v = arrays((4, 6, 8), (4, 6, 8), (4, 6, 8))
    flags = np.ones((6, 6), np.bool_)
    for mask in (flags, masks.array(flags), masks.causal() & flags, masks.where(lambda b, h, i, j: flags[i, j])):
        flags[...] = True
        before = clearhead.attention(q, k, v, mask)
        flags[:, 0] = False
        after = clearhead.attention(q, k, v, mask)
        assert not np.array_equal(before, after)
        truth, _ = clearhead.scaled_dot_product_attention(*(x.astype(np.float64) for x in (q, k, v)), mask)
        np.testing.assert_allclose(after, truth, rtol=0, atol=1e-6)
    assert not nothing_known.values


def test_a_view_of_other_strides_is_another_call(nothing_known):
    (wide,) = arrays((4, 6, 16))
    other = arrays((4, 6, 8))[0]
    clearhead.attention(other, other, other)
    odd = clearhead.attention(wide[..., ::2], other, other)
    np.testing.assert_equal(odd, clearhead.attention(wide[..., ::2].copy(), other, other))


def test_bad_numbers_are_refused_after_good_ones():
    q, k, v = arrays((4, 6, 8), (4, 6, 8), (4, 6, 8))
    clearhead.attention(q, k, v, scale=1.0)
    with pytest.raises(TypeError, match="scale"):
        clearhead.attention(q, k, v, scale=True)


def test_a_mask_that_cannot_be_hashed():
    @dataclasses.dataclass
    class Rule:
        step: int

        def __call__(self, b, h, i, j):
            return (i + j) % self.step > 0

    q, k, v = arrays((4, 6, 8), (4, 6, 8), (4, 6, 8))
    mask = masks.where(Rule(3))
    np.testing.assert_equal(clearhead.attention(q, k, v, mask), clearhead.attention(q, k, v, mask.array(6)))


def test_masks_made_anew_for_each_call_do_not_fill_the_memory(monkeypatch):
    calls = Remembered(512, most_bytes=10_000)
    monkeypatch.setattr(kernels.known, "calls", calls)
    q, k, v = arrays((2, 1, 70, 8), (2, 1, 70, 8), (2, 1, 70, 8))
    for _ in range(20):
        clearhead.attention(q, k, v, masks.key_lengths([50, 70]))
    assert 0 < len(calls.values) <= 10_000 // (2 * 2 * 70 * 8)


class TestAGrowingCache:
    """Only the number of keys is new: a call is made of one before, and nothing is prepared again."""

    Q, ROOM = (2, 4, 1, 16), (2, 2, 2000, 16)

    def new(self, monkeypatch, q, k, v, **options):
        """What a call gives of which nothing is known."""
        with monkeypatch.context() as forgetting:
            forgetting.setattr(kernels.known, "calls", Remembered(512))
            forgetting.setattr(kernels.known, "families", Remembered(64))
            forgetting.setattr(kernels.known, "kin", Remembered(64))
            return clearhead.attention(q, k, v, **options)

    @pytest.mark.parametrize("copied", [True, False], ids=["copied", "a view of its room"])
    @pytest.mark.parametrize("options", [{}, {"return_lse": True}, {"scale": 0.3, "softcap": 4.0}], ids=str)
    def test_it_gives_the_bits_of_a_new_call(self, options, copied, monkeypatch):
        q, keys, values = arrays(self.Q, self.ROOM, self.ROOM)
        lengths = [5, 6, 7, 191, 192, 193, 700]
        taken = [[x[:, :, :n].copy() if copied else x[:, :, :n] for x in (keys, values)] for n in lengths]
        expected = [self.new(monkeypatch, q, k, v, **options) for k, v in taken]
        clearhead.attention(q, *taken[0], **options)
        monkeypatch.setattr(kernels.launch, "compute", None)
        for (k, v), wanted in zip(taken, expected, strict=True):
            np.testing.assert_equal(clearhead.attention(q, k, v, **options), wanted)

    def test_tensors_too(self, monkeypatch):
        torch = pytest.importorskip("torch")
        q, keys, values = (torch.from_numpy(x) for x in arrays(self.Q, self.ROOM, self.ROOM))
        lengths = [30, 31, 32, 400]
        expected = [self.new(monkeypatch, q, keys[:, :, :n], values[:, :, :n]) for n in lengths]
        clearhead.attention(q, keys[:, :, :9], values[:, :, :9])
        monkeypatch.setattr(kernels.launch, "compute_with_sums", None)
        for n, wanted in zip(lengths, expected, strict=True):
            assert torch.equal(clearhead.attention(q, keys[:, :, :n], values[:, :, :n]), wanted)

    def test_parts_of_the_keys(self, monkeypatch):
        """Two tasks are few: from some number of keys on they are split, and later into more parts."""
        q, keys, values = arrays((1, 2, 1, 16), (1, 2, 4000, 16), (1, 2, 4000, 16))
        lengths = [700, 768, 769, 770, 1500, 1600, 1601, 3999, 4000]
        expected = [self.new(monkeypatch, q, keys[:, :, :n], values[:, :, :n]) for n in lengths]
        for n, wanted in zip(lengths, expected, strict=True):
            np.testing.assert_equal(clearhead.attention(q, keys[:, :, :n], values[:, :, :n]), wanted)

    def test_what_does_not_fit_is_refused_as_ever(self, unchecked):
        q, keys, values = arrays(self.Q, self.ROOM, self.ROOM)
        clearhead.attention(q, keys[:, :, :9], values[:, :, :9])
        with pytest.raises(ValueError, match="keys"):
            clearhead.attention(q, keys[:, :, :10], values[:, :, :11])
        assert not clearhead.attention(q, keys[:, :, :0], values[:, :, :0]).any()

    def test_a_mask_has_no_family(self, monkeypatch):
        q, keys, values = arrays((2, 4, 3, 16), self.ROOM, self.ROOM)
        for n in (9, 10):
            k, v = keys[:, :, :n], values[:, :, :n]
            expected = self.new(monkeypatch, q, k, v, mask=masks.causal())
            np.testing.assert_equal(clearhead.attention(q, k, v, mask=masks.causal()), expected)


class TestOtherRuns:
    """Only the runs of keys that a mask leaves are new, as with padding: nothing is prepared again."""

    SHAPES = (3, 4, 40, 8), (3, 2, 40, 8), (3, 2, 40, 8)

    @pytest.mark.parametrize("with_", [lambda m: m, lambda m: m & masks.causal(), lambda m: masks.prefix(30) & m])
    def test_it_gives_the_bits_of_a_new_call(self, with_, monkeypatch):
        q, k, v = arrays(*self.SHAPES)
        lengths = [[40, 3, 17], [7, 2, 39], [40, 40, 40]]
        expected = []
        for each in lengths:
            kernels.known.calls.forget()
            expected.append(clearhead.attention(q, k, v, with_(masks.key_lengths(each))))
        monkeypatch.setattr(kernels.launch, "compute", None)
        for each, wanted in zip(lengths, expected, strict=True):
            np.testing.assert_array_equal(clearhead.attention(q, k, v, with_(masks.key_lengths(each))), wanted)

    @pytest.mark.parametrize(
        ("first", "other"),
        [
            (masks.key_lengths([40, 3, 17]) & masks.dilated(1), masks.key_lengths([5, 6, 40]) & masks.dilated(3)),
            (masks.documents([0] * 40), masks.documents([0] * 10 + [1] * 10 + [0] * 20)),
            (masks.documents([0] * 40), masks.documents([0, 1] * 20)),
            (masks.key_lengths([40, 3, 17]), masks.key_lengths([0, 0, 0])),
            (masks.key_lengths([40, 3, 17]), masks.key_lengths(7)),
            (masks.causal(), masks.window(4)),
        ],
        ids=repr,
    )
    def test_masks_of_the_same_kinds_that_say_more_or_lie_otherwise(self, first, other, nothing_known):
        q, k, v = arrays(*self.SHAPES)
        for mask in (first, other, first, other):
            seen = mask.array(40, 40, batch_shape=(3,), heads=4)
            expected = clearhead.attention(q, k, v, seen)
            np.testing.assert_array_equal(clearhead.attention(q, k, v, mask), expected)

    def test_where_the_panels_would_be_of_another_width(self, nothing_known):
        """Under a causal mask they are narrow, but not where each query sees as many keys as the one before."""
        q, k, v = arrays((1, 2, 70, 8), (1, 2, 70, 8), (1, 2, 70, 8))
        widths = []
        for mask in (masks.causal(), masks.causal(offset=100), masks.causal(offset=3)):
            clearhead.attention(q, k, v, mask)
            known = nothing_known.values[next(reversed(nothing_known.values))]
            widths.append(known.words[WORDS + first_word(Job, "vectors")])
        expected = [forward_plan(shape_of(prepare(q, k, v, mask=masks.causal(offset=n)))).vectors for n in (0, 100, 3)]
        assert widths == expected
        assert len(set(expected)) == 2 or TARGET.narrow >= PANEL

    def test_there_is_as_much_to_do_as_in_a_new_call(self, nothing_known):
        """Or a batch of short texts would have all that come after it done by one thread."""
        q, k, v = arrays((2, 4, 256, 64), (2, 4, 256, 64), (2, 4, 256, 64))
        works = []
        for lengths in ([[256, 256]], [[1, 1], [256, 256]]):
            nothing_known.forget()
            for each in lengths:
                clearhead.attention(q, k, v, masks.key_lengths(each))
            works.append(nothing_known.values[next(reversed(nothing_known.values))].work)
        assert works[0].shared
        assert [getattr(works[0], name) for name in ("shared", "large", "alone", "turn")] == [
            getattr(works[1], name) for name in ("shared", "large", "alone", "turn")
        ]

    def test_what_is_kept_of_them_is_counted(self, monkeypatch):
        monkeypatch.setattr(kernels.known, "kin", Remembered(64, most_bytes=1000))
        q, k, v = arrays(*self.SHAPES)
        clearhead.attention(q, k, v, masks.key_lengths([40, 3, 17]))
        assert not kernels.known.kin.values

    def test_lengths_that_do_not_fit(self):
        q, k, v = arrays(*self.SHAPES)
        clearhead.attention(q, k, v, masks.key_lengths([40, 3, 17]))
        with pytest.raises(ValueError, match="lengths"):
            clearhead.attention(q, k, v, masks.key_lengths([40, 3]))


def test_arrays_without_positions_have_no_relatives():
    """They are looked for before arguments are checked, and an error is not theirs to raise."""
    one = np.ones(3, np.float32)
    assert kernels.known.find(kernels.known.key_of(one, one, one, None, None, None, kernels.known_call.OUTPUT)) is None
