from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from benchmarks import translation

from clearhead.translate.batches import Corpus, batch
from clearhead.translate.training import Settings, exact_match, overlap, train
from clearhead.translate.vocabulary import PAD

from . import toys

ROOT = Path(__file__).parents[2]
# Dropout, so that the generator matters; looks that fall between stops.
SHAPE = dataclasses.replace(toys.SHAPE, dropout=0.1)
SHORT = Settings(steps=24, batch_size=48, learning_rate=1e-2, warm_up=5, look_every=7, held_out=13)


@pytest.fixture(scope="module")
def uninterrupted():
    learner = toys.trainer(SHAPE, SHORT)
    assert train(learner)
    return learner


def assert_equal(one, other):
    """Two trainings are at the same point, bit for bit."""
    assert (one.step, one.losses, one.moments) == (other.step, other.losses, other.moments)
    assert torch.equal(one.random, other.random)
    for mine, theirs in ((one.parameters(), other.parameters()), (one.best, other.best), (one.film, other.film)):
        assert mine.keys() == theirs.keys()
        for name in mine:
            np.testing.assert_array_equal(mine[name], theirs[name], err_msg=str(name))


def test_it_learns_to_translate_freely():
    learner = toys.trained()
    assert learner.moments[0].exact < 0.5, "at first it knows little"
    assert learner.moments[-1].exact >= 0.9
    assert learner.moments[-1].loss < learner.moments[0].loss / 2


def test_the_same_seed_gives_the_same_bits_and_another_seed_others(uninterrupted):
    same = toys.trainer(SHAPE, SHORT)
    other = toys.trainer(SHAPE, dataclasses.replace(SHORT, seed=1))
    train(same)
    assert_equal(same, uninterrupted)
    assert other.held_out.sources != same.held_out.sources
    assert other.advance() != uninterrupted.losses


def test_nobody_elses_random_numbers_are_touched():
    torch.manual_seed(11)
    before = torch.get_rng_state()
    learner = toys.trainer(SHAPE, SHORT)
    learner.advance()
    assert torch.equal(torch.get_rng_state(), before)


def test_dropout_draws_anew_at_every_step():
    learner = toys.trainer(SHAPE, SHORT)
    before = learner.random
    learner.advance()
    assert not torch.equal(learner.random, before)


@pytest.mark.parametrize("step", [3, 7, 13], ids=["before a look", "at a look", "after a look"])
def test_saved_and_resumed_is_uninterrupted(uninterrupted, tmp_path, step):
    path = tmp_path / "toy.safetensors"
    first = toys.trainer(SHAPE, SHORT)
    assert not train(first, path=path, watcher=toys.At(step, lambda trainer: signal.raise_signal(signal.SIGINT)))
    assert first.step == step
    second = toys.trainer(SHAPE, SHORT)
    second.resume(path)
    assert_equal(second, first)
    assert second.seconds == first.seconds
    assert train(second, path=path)
    assert_equal(second, uninterrupted)


def test_killed_and_resumed_is_uninterrupted(uninterrupted, tmp_path):
    """SIGKILL leaves no time for anything: what counts is what was in the file."""
    path = tmp_path / "toy.safetensors"
    code = f"""
from pathlib import Path
from tests.translate import toys, test_training as t
from clearhead.translate.training import train
train(toys.trainer(t.SHAPE, t.SHORT), path=Path({str(path)!r}),
      watcher=toys.At(17, lambda trainer: (print("far enough", flush=True), input())))
"""
    environment = os.environ | {"OMP_NUM_THREADS": "2"}  # and it does not matter how many threads there could be
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "far enough\n"
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    survivor = toys.trainer(SHAPE, SHORT)
    survivor.resume(path)
    assert survivor.step == 14, "the last look before step 17"
    train(survivor)
    assert_equal(survivor, uninterrupted)


def test_a_second_ctrl_c_does_not_wait(tmp_path):
    def twice(trainer):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        train(toys.trainer(SHAPE, SHORT), watcher=toys.At(2, twice))
    assert signal.getsignal(signal.SIGINT) is handler


def test_threads_are_as_said_and_then_as_before():
    before = torch.get_num_threads()
    seen = []
    learner = toys.trainer(SHAPE, dataclasses.replace(SHORT, steps=2, threads=before + 1))
    train(learner, watcher=toys.At(1, lambda trainer: seen.append(torch.get_num_threads())))
    assert seen == [before + 1]
    assert torch.get_num_threads() == before


def test_the_rate_rises_and_falls_in_straight_lines():
    settings = Settings(steps=100, warm_up=10, learning_rate=0.5)
    rates = [settings.rate(step) for step in range(1, 101)]
    np.testing.assert_allclose(rates[:10], np.arange(1, 11) * 0.05, rtol=1e-12)
    np.testing.assert_allclose(np.diff(rates[10:]), -0.5 / 91, rtol=1e-10)
    np.testing.assert_allclose(rates[-1], 0.5 / 91, rtol=1e-12)


def test_a_training_shorter_than_its_warm_up_still_moves():
    assert Settings(steps=1, warm_up=100, learning_rate=0.5).rate(1) > 0


def test_it_stops_early_when_nothing_gets_better():
    settings = dataclasses.replace(SHORT, steps=700, learning_rate=1e-9, patience=2)
    learner = toys.trainer(SHAPE, settings)
    assert train(learner)
    ranks = [moment.rank for moment in learner.moments]
    assert learner.step == 7 * len(ranks) < 700
    assert ranks.index(max(ranks)) == len(ranks) - 3


def test_the_best_weights_are_kept_and_of_equals_the_last(monkeypatch):
    learner = toys.trainer(SHAPE, dataclasses.replace(SHORT, steps=4, look_every=1))
    shares = iter([0.25, 0.75, 0.75, 0.5])
    monkeypatch.setattr("clearhead.translate.training.exact_match", lambda *_: next(shares))
    monkeypatch.setattr("clearhead.translate.training.overlap", lambda *_: 0.5)
    kept = []
    while not learner.finished:
        learner.advance()
        weights = learner.parameters()
        learner.look()
        kept.append(all(np.array_equal(weights[name], learner.best[name]) for name in weights))
    assert kept == [True, True, True, False]


def test_the_film_has_the_first_steps_and_the_last(uninterrupted):
    assert sorted(uninterrupted.film) == [0, 10, 20, 24]
    source, target = uninterrupted.watched
    for weights in uninterrupted.film.values():
        assert weights.shape == (1, 2, len(target) + 1, len(source))
        np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-6)
    assert np.abs(uninterrupted.film[0] - uninterrupted.film[24]).max() > 0.01


def test_exact_match_compares_texts():
    corpus = toys.trained().held_out.select(range(4))
    written = [list(target) for target in corpus.targets]
    assert exact_match(written, corpus, toys.vocabulary()) == 1
    written[2] = [*written[2], 3]
    assert exact_match(written, corpus, toys.vocabulary()) == 0.75


def test_overlap_counts_pieces_in_any_order():
    corpus = Corpus([[3, 2]], [[5, 5, 7]])
    assert overlap([[7, 5, 5]], corpus) == 1
    np.testing.assert_allclose(overlap([[5]], corpus), 0.5)
    assert overlap([[8, 9]], corpus) == 0


def test_torchs_own_transformer_with_the_same_weights_learns_the_same():
    """The benchmark's two models: equal logits before the first step, and the same curve after it."""
    ours, theirs = translation.trainers(0.001).values()
    source, given, wanted = map(torch.from_numpy, batch(ours.training, range(17)))
    with torch.no_grad():
        one, other = (trainer.model(source, given)[wanted != PAD] for trainer in (ours, theirs))
    torch.testing.assert_close(one, other, rtol=0, atol=1e-5)
    losses = np.array([(ours.advance(), theirs.advance()) for _ in range(13)])
    assert losses[-1, 0] < 0.95 * losses[0, 0]
    np.testing.assert_allclose(losses[:, 0], losses[:, 1], rtol=1e-4)


def test_more_is_held_out_than_there_is(unchecked):
    with pytest.raises(ValueError, match="there are 995 pairs to train on and 995 of them are to be held out"):
        toys.trainer(settings=Settings(held_out=995))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"settings": dataclasses.replace(SHORT, seed=3)}, "another settings.*seed is 0 there and 3 here"),
        ({"shape": dataclasses.replace(SHAPE, d_ff=96)}, "another shape.*d_ff is 64 there and 96 here"),
        ({"task": "dates"}, "another task.*it is backwards there and dates here"),
        ({"corpus": None}, "another data"),
    ],
    ids=["settings", "shape", "task", "data"],
)
def test_another_training_cannot_be_continued(tmp_path, unchecked, changes, message):
    path = tmp_path / "toy.safetensors"
    toys.trainer(SHAPE, SHORT).save(path)
    content = path.read_bytes()
    other = toys.trainer(SHAPE, SHORT)
    if "corpus" in changes:
        changes = {"corpus": other.corpus.select(reversed(range(len(other.corpus))))}
    other = dataclasses.replace(other, **changes)
    with pytest.raises(ValueError, match=message):
        other.resume(path)
    assert path.read_bytes() == content


def test_a_loss_that_is_not_a_number_stops_it(unchecked):
    learner = toys.trainer(SHAPE, SHORT)
    with torch.no_grad():
        learner.model.source_embedding.fill_(torch.nan)
    with pytest.raises(ValueError, match=r"the loss of step 1 is nan; a lower learning rate may help"):
        learner.advance()
