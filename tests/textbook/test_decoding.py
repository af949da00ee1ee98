from __future__ import annotations

import itertools

import numpy as np
import pytest

from clearhead.textbook.decoding import beam, greedy
from clearhead.textbook.softmax import log_sum_exp
from clearhead.textbook.transformer import Transformer

# Thousands of steps: the shapes inside one are checked where the layers are tested.
pytestmark = pytest.mark.usefixtures("unchecked")

PAD, BOS, EOS = 0, 1, 2
LIMITS = {"bos_id": BOS, "eos_id": EOS, "max_len": 7}


def model_of(seed=1, target_vocab=13, sharpness=3.0, **settings):
    """A model with opinions of its own that likes to come to an end: sentences of many lengths."""
    model = Transformer(
        11, target_vocab, d_model=12, num_heads=3, num_layers=1, num_decoder_layers=2, d_ff=7, seed=seed, **settings
    )
    model.W_out = model.W_out * model.W_out.dtype.type(sharpness)
    model.b_out[EOS] = 2 * (sharpness > 0)
    return model


def batch_of(rng, *leading):
    """Sentences of 1 to 7 words, filled up with padding."""
    ids = rng.integers(1, 11, (*leading, 7))
    lengths = rng.integers(1, 8, leading)
    return np.where(np.arange(7) < lengths[..., None], ids, PAD)


def log_probabilities(model, source, sequences):
    """Of whole sequences of one length: sequences (k, t) → (k,)."""
    return of_words(model, source, sequences).sum(axis=-1)


def of_words(model, source, sequences):
    """The log-probability of each word, by one pass without a cache: sequences (k, t) → (k, t)."""
    sequences = np.array(sequences)
    started = np.concatenate([np.full((len(sequences), 1), BOS), sequences[:, :-1]], axis=-1)
    logits = model(np.broadcast_to(source, (len(sequences), len(source))), started).logits
    words = np.take_along_axis(logits, sequences[..., None], axis=-1)[..., 0]
    return words - log_sum_exp(logits)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_takes_the_most_probable_word_at_every_step(rng, seed):
    model = model_of(seed)
    source = rng.integers(1, 11, 7)
    words: list[int] = []
    while len(words) < 7 and EOS not in words:
        logits = model(source, [BOS, *words]).logits[-1]
        logits[PAD] = -np.inf
        words.append(int(logits.argmax()))
    got = greedy(model, source, **LIMITS)
    assert got.ids.tolist() == words
    assert got.lengths == len(words)
    np.testing.assert_allclose(got.log_probability, log_probabilities(model, source, [words])[0], rtol=1e-12)
    np.testing.assert_allclose(got.least_log_probability, of_words(model, source, [words]).min(), rtol=1e-9)


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 2.0, 5.0])
@pytest.mark.parametrize("seed", range(6))
def test_a_wide_beam_finds_the_best_of_all_sequences(rng, seed, length_penalty):
    model, source, max_len = model_of(seed, target_vocab=5, sharpness=1.0), rng.integers(1, 11, 7), 4
    others = [word for word in range(5) if word not in (PAD, EOS)]
    best, top, count = [], -np.inf, 0
    for n in range(max_len + 1):
        end = [EOS] if n < max_len else []  # or cut off
        sequences = [[*start, *end] for start in itertools.product(others, repeat=n)]
        length = len(sequences[0])
        scores = log_probabilities(model, source, sequences) / ((5 + length) / 6) ** length_penalty
        if scores.max() > top:
            best, top = sequences[scores.argmax()], scores.max()
        count += len(sequences)
    assert count == 1 + 3 + 9 + 27 + 81
    limits = {"bos_id": BOS, "eos_id": EOS, "max_len": max_len}
    got = beam(model, source, **limits, width=count, length_penalty=length_penalty)
    assert got.ids.tolist() == best
    np.testing.assert_allclose(got.log_probability, log_probabilities(model, source, [best])[0], rtol=1e-12)
    np.testing.assert_allclose(got.least_log_probability, of_words(model, source, [best]).min(), rtol=1e-9)


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_beam_of_one_is_greedy(rng, seed, length_penalty):
    model, source = model_of(seed), batch_of(rng, 5)
    narrow = beam(model, source, **LIMITS, width=1, length_penalty=length_penalty)
    for ours, theirs in zip(narrow, greedy(model, source, **LIMITS), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_beam_finds_what_greed_misses(rng):
    better = 0
    for seed in range(8):
        model, source = model_of(seed), rng.integers(1, 11, 7)
        wide = beam(model, source, **LIMITS, width=5, length_penalty=0.0).log_probability
        better += wide > greedy(model, source, **LIMITS).log_probability + 1e-9
    assert better >= 4


def searches():
    return [
        pytest.param(greedy, id="greedy"),
        pytest.param(lambda *args, **kwargs: beam(*args, **kwargs, width=3), id="beam"),
    ]


@pytest.mark.parametrize("search", searches())
@pytest.mark.parametrize("settings", [{}, {"norm": "rms", "num_kv_heads": 1, "dtype": np.float32}], ids=str)
def test_neighbours_do_not_matter(rng, search, settings):
    model, source = model_of(**settings), batch_of(rng, 11)
    together = search(model, source, **LIMITS)
    assert len(set(together.lengths.tolist())) > 1
    for row in range(11):
        n_s = np.count_nonzero(source[row])
        alone = search(model, source[row, :n_s], **LIMITS)
        n_t = alone.lengths
        assert together.lengths[row] == n_t
        assert together.ids[row, :n_t].tolist() == alone.ids.tolist()
        assert (together.ids[row, n_t:] == PAD).all()
        np.testing.assert_allclose(together.log_probability[row], alone.log_probability, rtol=1e-12)
        np.testing.assert_allclose(together.cross_weights[row, :, :, :n_t, :n_s], alone.cross_weights, rtol=1e-12)
        assert together.cross_weights[row].sum() == pytest.approx(alone.cross_weights.sum())


@pytest.mark.parametrize("search", searches())
def test_cross_weights_are_those_of_the_chosen_sequence(rng, search):
    model, source = model_of(), rng.integers(1, 11, 7)
    got = search(model, source, **LIMITS)
    expected = np.stack(model(source, [BOS, *got.ids[:-1]]).cross_weights)
    assert got.cross_weights.shape == (2, 3, int(got.lengths), 7)
    np.testing.assert_allclose(got.cross_weights, expected, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(got.cross_weights.sum(axis=-1), 1, rtol=1e-12)


@pytest.mark.parametrize("search", searches())
def test_any_leading_dimensions(rng, search):
    model, source = model_of(), batch_of(rng, 2, 3)
    whole, flat = search(model, source, **LIMITS), search(model, source.reshape(6, 7), **LIMITS)
    for ours, theirs in zip(whole, flat, strict=True):
        np.testing.assert_array_equal(ours, theirs.reshape(ours.shape))
    assert whole.lengths.shape == (2, 3)
    empty = search(model, source[:0], **LIMITS)
    assert (empty.ids.shape, empty.lengths.shape) == ((0, 3, 0), (0, 3))
    assert empty.cross_weights.shape == (0, 3, 2, 3, 0, 7)


@pytest.mark.parametrize("search", searches())
def test_a_sentence_of_padding_looks_at_nothing(search):
    got = search(model_of(), [PAD, PAD, PAD], **LIMITS)
    assert got.lengths >= 1
    assert (got.cross_weights == 0).all()


@pytest.mark.parametrize("search", searches())
def test_without_an_end_there_are_max_len_words(rng, search):
    model = model_of()
    model.b_out[EOS] = -np.inf
    got = search(model, batch_of(rng, 3), **LIMITS)
    assert got.lengths.tolist() == [7, 7, 7]
    assert np.isfinite(got.log_probability).all()
    assert ((got.ids != PAD) & (got.ids != EOS)).all()


@pytest.mark.parametrize("search", searches())
def test_the_end_may_be_the_only_word_left(rng, search):
    model = model_of()
    model.b_out[:] = -np.inf
    model.b_out[EOS] = 0
    got = search(model, batch_of(rng, 3), **LIMITS)
    assert got.ids.tolist() == [[EOS]] * 3
    np.testing.assert_allclose(got.log_probability, 0, atol=1e-15)


@pytest.mark.parametrize("search", searches())
def test_padding_is_never_written(rng, search):
    model = model_of()
    model.b_out[PAD] = 1e3
    got = search(model, rng.integers(1, 11, 7), **LIMITS)
    assert (got.ids != PAD).all()


def test_equally_probable_words_go_by_their_id(rng):
    model, source = model_of(0, sharpness=0.0), rng.integers(1, 11, 7)
    assert greedy(model, source, bos_id=BOS, eos_id=3, max_len=5).ids.tolist() == [1, 1, 1, 1, 1]
    assert greedy(model, source, bos_id=3, eos_id=1, max_len=5).ids.tolist() == [1]
    # The first two of the ranking are 1, which lives on, and 2, which ends and cannot be beaten.
    assert beam(model, source, **LIMITS, width=2, length_penalty=0.0).ids.tolist() == [EOS]
    # With the end out of reach, the drafts are 1 1 1 …, 1 1 2 … and so on, and the first one wins. The vocabulary is
    # large enough for a sort that is not stable to shuffle it.
    model = model_of(0, target_vocab=101, sharpness=0.0)
    assert beam(model, source, bos_id=BOS, eos_id=100, max_len=5, width=3).ids.tolist() == [1, 1, 1, 1, 1]


def test_a_length_penalty_favours_longer_sentences(rng):
    model, source = model_of(), batch_of(rng, 7)
    plain, rewarded = (beam(model, source, **LIMITS, width=6, length_penalty=alpha) for alpha in (0.0, 3.0))
    assert rewarded.lengths.mean() > plain.lengths.mean()
    assert (plain.log_probability >= rewarded.log_probability - 1e-12).all()


def test_errors(rng):
    model, source = model_of(0), rng.integers(1, 11, 7)
    for search in (greedy, beam):
        for change, error, message in [
            ({"bos_id": 13}, ValueError, r"bos_id must be in \[0, 12\], the target vocabulary, got 13"),
            ({"eos_id": -1}, ValueError, "eos_id must be at least 0, got -1"),
            ({"eos_id": 2.0}, TypeError, r"eos_id must be a whole number, got 2\.0"),
            ({"bos_id": PAD}, ValueError, "bos_id must differ from pad_id, got 0 for both: padding is never looked at"),
            ({"eos_id": PAD}, ValueError, "eos_id must differ from pad_id, got 0 for both"),
            ({"max_len": 0}, ValueError, "max_len must be at least 1, got 0"),
        ]:
            with pytest.raises(error, match=message):
                search(model, source, **LIMITS | change)
        with pytest.raises(ValueError, match=r"source_ids must be in \[0, 10\] for a vocabulary of 11, got 3 … 11"):
            search(model, [3, 11], **LIMITS)
        with pytest.raises(TypeError, match="source_ids must be integers, got float64"):
            search(model, [3.0], **LIMITS)
        with pytest.raises(ValueError, match=r"source_ids need at least 1 position to translate, got shape \(2, 0\)"):
            search(model, np.zeros((2, 0), int), **LIMITS)
        for value, message in [(np.nan, "contain NaN or"), (np.inf, r"NaN or \+inf"), (-np.inf, "are -inf for every")]:
            broken = model_of(0)
            broken.b_out[:] = value
            with pytest.raises(ValueError, match=f"the model's logits .*{message}"):
                search(broken, source, **LIMITS)
    with pytest.raises(ValueError, match="width must be at least 1, got 0"):
        beam(model, source, **LIMITS, width=0)
    with pytest.raises(
        ValueError, match=r"length_penalty must be at least 0, got -1 \(0 compares plain probabilities\)"
    ):
        beam(model, source, **LIMITS, length_penalty=-1.0)
    with pytest.raises(TypeError, match="length_penalty must be a number, got 'long'"):
        beam(model, source, **LIMITS, length_penalty="long")
