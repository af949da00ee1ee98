from __future__ import annotations

import signal

import numpy as np
import pytest
import torch

from clearhead.textbook.decoding import greedy
from clearhead.torch import attention, self_attention
from clearhead.translate.batches import Corpus, batch, batches
from clearhead.translate.model import Shape, padded, write
from clearhead.translate.training import exact_match, train
from clearhead.translate.vocabulary import BEGIN, END, PAD

from . import toys


@pytest.fixture(scope="module")
def model():
    return toys.trained().model


@pytest.fixture(scope="module")
def test_set() -> Corpus:
    return Corpus.encoded(toys.task().test, toys.vocabulary())


def test_padded_fills_up_with_padding():
    np.testing.assert_array_equal(padded([[5, 3, 2], [], [7]]), [[5, 3, 2], [PAD, PAD, PAD], [7, PAD, PAD]])


def test_a_seed_gives_its_weights_and_leaves_torch_as_it_was():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    one, same, other = (toys.SHAPE.build(17, seed) for seed in (5, 5, 6))
    assert torch.equal(torch.get_rng_state(), before)
    for (name, a), (_, b), (_, c) in zip(*(m.named_parameters() for m in (one, same, other)), strict=True):
        assert torch.equal(a, b), name
        assert name.endswith(("beta", "gamma")) or ".b_" in name or name == "b_out" or not torch.equal(a, c), name


def test_the_shape_is_that_of_the_model():
    model = Shape(d_model=24, num_heads=3, num_layers=1, num_decoder_layers=2, d_ff=40).build(17, 0)
    assert len(model.encoder) == 1
    assert len(model.decoder) == 2
    assert model.to_textbook().num_parameters == sum(p.numel() for p in model.parameters())


def test_left_to_itself_it_translates_what_it_has_never_seen(model, test_set):
    seen = set(map(tuple, toys.trained().corpus.sources))
    assert not any(tuple(source) in seen for source in test_set.sources)
    assert exact_match(write(model, test_set.sources, max_len=11), test_set, toys.vocabulary()) >= 0.9


def test_the_textbook_writes_the_same(model, test_set):
    found = greedy(model.to_textbook(), padded(test_set.sources), bos_id=BEGIN, eos_id=END, max_len=11)
    theirs = [row[:n].tolist() for row, n in zip(found.ids, found.lengths, strict=True)]
    ours = write(model, test_set.sources, max_len=11)
    assert [[*ids, END] if len(ids) < 11 else ids for ids in ours] == theirs


def test_a_translation_does_not_depend_on_its_neighbours(model, test_set):
    sources = test_set.sources[:23]
    together = write(model, sources, max_len=11)
    assert together == [write(model, [source], max_len=11)[0] for source in sources]
    assert together[::-1] == write(model, sources[::-1], max_len=11)


def test_padding_changes_no_logit(model, test_set):
    """Not only the words: the numbers behind them, up to the rounding of products of another size."""
    wide = batch(test_set, range(31))
    with torch.inference_mode():
        together = model(*(torch.from_numpy(ids) for ids in wide[:2]))
        for i, (source, target) in enumerate(zip(*(field[:31] for field in test_set), strict=True)):
            alone = model(torch.tensor([source]), torch.tensor([[BEGIN, *target]]))[0]
            torch.testing.assert_close(together[i, : len(alone)], alone, rtol=0, atol=2e-5)


def test_a_later_target_changes_nothing_before_it(model, test_set):
    """Bit for bit, on the trained decoder, whichever position is changed."""
    rows = [i for i, target in enumerate(test_set.targets) if len(target) == 4][:13]
    source, given, _ = (torch.from_numpy(ids) for ids in batch(test_set, rows))
    with torch.inference_mode():
        before = model(source, given)
        for position in range(1, given.shape[1]):
            changed = given.clone()
            changed[:, position] = given[:, position] % (len(toys.vocabulary()) - 3) + 3
            changed[:, position] += (changed[:, position] == given[:, position]).long()
            after = model(source, changed)
            assert torch.equal(after[:, :position], before[:, :position])
            assert not torch.equal(after[:, position:], before[:, position:])


def test_heads_merged_wrongly_are_found_out_by_writing_freely(monkeypatch):
    """Without the transpose a position sees what comes after it: the loss looks better, and nothing is translated."""

    def merged(self, q, k, v, mask, position):
        mixed = attention(q, k, v, mask=mask)
        wrong = mixed.flatten(-3).unflatten(-1, (q.shape[-2], -1))  # (…, h, n, d) laid out as if it were (…, n, h·d)
        return torch.nn.functional.linear(wrong, self.W_O.T, self.b_O)

    honest = toys.trained().moments[1]
    monkeypatch.setattr(self_attention._Attention, "attended", merged)
    learner = toys.trainer()
    train(learner, watcher=toys.At(honest.step, lambda trainer: signal.raise_signal(signal.SIGINT)))
    broken = learner.moments[1]
    assert broken.loss < honest.loss
    assert broken.exact < 0.1 < honest.exact


def test_writing_stops_at_the_limit_and_never_pads(model, test_set):
    with torch.no_grad():
        endless = toys.SHAPE.build(len(toys.vocabulary()), 1)
        endless.b_out[PAD], endless.b_out[END] = 100.0, -100.0
    written = write(endless, test_set.sources[:7], max_len=5)
    assert [len(ids) for ids in written] == [5] * 7
    assert all(PAD not in ids and END not in ids for ids in written)


def test_writing_leaves_the_model_in_its_mode(model, test_set):
    for training in (True, False):
        model.train(training)
        write(model, test_set.sources[:2], max_len=3)
        assert model.training is training


def test_nothing_to_write(model):
    assert write(model, [], max_len=3) == []


def test_a_limit_of_nothing_is_refused(model, unchecked):
    with pytest.raises(ValueError, match="max_len must be at least 1, got 0"):
        write(model, [[3, END]], max_len=0)


class TestBatches:
    def test_every_row_comes_once(self, test_set):
        found = batches(test_set, 7, np.random.default_rng(0))
        assert sorted(row for rows in found for row in rows) == list(range(len(test_set)))
        assert sorted(map(len, found)) == [len(test_set) % 7] + [7] * (len(test_set) // 7)

    def test_a_generator_gives_its_order(self, test_set):
        one, same, other = (batches(test_set, 7, np.random.default_rng(seed)) for seed in (1, 1, 2))
        assert one == same
        assert one != other

    def test_similar_lengths_meet(self, test_set):
        lengths = np.array([len(s) + len(t) for s, t in zip(*test_set, strict=True)])
        spread = np.mean([np.ptp(lengths[rows]) for rows in batches(test_set, 7, np.random.default_rng(0))])
        assert spread < 0.5 * np.mean([np.ptp(lengths[start : start + 7]) for start in range(0, 200, 7)])

    def test_what_is_wanted_is_what_follows(self, test_set):
        rows = [2, 3, 5]
        source, given, wanted = batch(test_set, rows)
        for i, row in enumerate(rows):
            n = len(test_set.targets[row])
            assert given[i, : n + 1].tolist() == [BEGIN, *test_set.targets[row]]
            assert wanted[i, : n + 1].tolist() == [*test_set.targets[row], END]
            assert source[i, : len(test_set.sources[row])].tolist() == test_set.sources[row]
            assert test_set.sources[row][-1] == END
            assert not given[i, n + 1 :].any()
            assert not wanted[i, n + 1 :].any()

    def test_a_fingerprint_tells_corpora_apart(self, test_set):
        same, other = test_set.select(range(200)), test_set.select(reversed(range(200)))
        assert same.fingerprint() == test_set.fingerprint() != other.fingerprint()
