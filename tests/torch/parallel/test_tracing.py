"""Traces of models whose sequence is spread over ranks are those of one process."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.torch.parallel import traced_models
from tests.torch.parallel.alone import group_of_one
from tests.torch.parallel.ranks import Ranks
from tests.torch.parallel.spread_models import inputs_of, model_of

import clearhead as ch
from clearhead.languages import RefusedError
from clearhead.torch import parallel
from clearhead.traces.end_to_end import PAGE

NOISE = 1e-12  # of float64; gpt_oss multiplies in float32
SINGLE = 2e-6

CASES = [
    ("llama", 4, "none", "zigzag", False),
    ("llama", 2, "right", "zigzag", True),
    ("llama", 4, "left", "contiguous", False),
    ("mistral", 4, "right", "contiguous", True),
    ("gemma2", 2, "left", "zigzag", False),
    ("gpt_oss", 4, "left", "zigzag", False),
    ("llama4", 2, "left", "zigzag", False),
    ("bert", 4, "right", "contiguous", False),
    ("modernbert", 2, "right", "zigzag", True),
]


def assert_same(ours: ch.views.View, one: ch.views.View, noise: float) -> None:
    for name in (*traced_models.STATISTICS, "received"):
        np.testing.assert_allclose(getattr(ours, name), getattr(one, name), rtol=0, atol=noise * 30, err_msg=name)
    np.testing.assert_array_equal(ours.top_k.indices, one.top_k.indices)
    np.testing.assert_allclose(ours.top_k.weights, one.top_k.weights, rtol=0, atol=noise)
    for reduce in ("mean", "max"):
        np.testing.assert_allclose(ours.map(reduce), one.map(reduce), rtol=0, atol=noise * 30)
    np.testing.assert_allclose(ours.weights(), one.weights(), rtol=0, atol=noise)


@pytest.mark.parametrize(("name", "ranks", "padding", "layout", "outside"), CASES)
def test_files_of_all_ranks_are_the_trace_of_one_process(
    four: Ranks, tmp_path: Path, name: str, ranks: int, padding: str, layout: str, outside: bool
):
    path = tmp_path / "x.safetensors"
    found = four.run("traced_models.kept", name, ranks, padding, layout, str(path), outside, ranks=list(range(ranks)))
    assert all(each == found[0] for each in found)
    assert sorted(x.name for x in tmp_path.iterdir()) == sorted(
        ["x.safetensors", *(f"x.{rank}-of-{ranks}.safetensors" for rank in range(1, ranks))]
    )
    joined, one = ch.load_trace(path), traced_models.alone(name, padding, values=True)
    assert joined.names == one.names
    assert joined.facts == one.facts
    noise = SINGLE if name == "gpt_oss" else NOISE
    for ours, expected in zip(joined.sequences, one.sequences, strict=True):
        np.testing.assert_array_equal(ours.ids(), expected.ids())
        assert str(ours.patterns()) == str(expected.patterns())
        for layer in one.names:
            assert_same(ours[layer], expected[layer], noise)
    assert found[0] == [str(one.sequences[1].ids()), str(one.sequences[1].patterns())]


@pytest.mark.parametrize(("name", "padding", "layout"), [("llama", "right", "zigzag"), ("bert", "none", "contiguous")])
def test_views_over_the_group_are_those_of_one_process(four: Ranks, name: str, padding: str, layout: str):
    one = traced_models.alone(name, padding).sequences[1]
    for found in four.run("traced_models.asked", name, 4, padding, layout):
        for layer, ours in zip(one.names, found, strict=True):
            view = one[layer]
            for each in (*traced_models.STATISTICS, "received"):
                np.testing.assert_allclose(ours[each], getattr(view, each), rtol=0, atol=30 * NOISE, err_msg=each)
            np.testing.assert_allclose(ours["map"], view.map(), rtol=0, atol=NOISE)
            np.testing.assert_allclose(ours["weights"], view.weights(head=1, rows=slice(2, 9)), rtol=0, atol=NOISE)
            assert ours["patterns"] == str(view.patterns())
        assert found[-1]["table"] == str(one.patterns())


def test_what_is_computed_from_values_and_gradients_is_the_same(four: Ranks, tmp_path: Path):
    path = tmp_path / "x.safetensors"
    four.run("traced_models.kept", "gpt2", 4, "left", "zigzag", str(path), False)
    one, joined = traced_models.alone("gpt2", "left", values=True).sequences[1], ch.load_trace(path).sequences[1]
    model = model_of("gpt2")
    ours, expected = (x.attribution(5, model=model) for x in (joined, one))
    for layer in one.names:
        np.testing.assert_allclose(ours.layers[layer], expected.layers[layer], rtol=0, atol=1e-12)
    norms = joined.value_norms(model=model), one.value_norms(model=model)
    for layer in one.names:
        np.testing.assert_allclose(norms[0].layers[layer], norms[1].layers[layer], rtol=0, atol=1e-12)
    four.run("traced_models.backward", 2, str(path), ranks=[0, 1])
    np.testing.assert_allclose(
        ch.load_trace(path).relevance(-1), traced_models.backward_alone().relevance(-1), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("options", [{"ablate": {(0, 1): "zero"}}, {"cut_scores": {(1, 2): (slice(4, 20), [0, 3])}}])
def test_heads_are_taken_out_and_edges_cut_as_in_one_process(four: Ranks, options: dict):
    expected = traced_models.changed_alone(options)
    for found in four.run("traced_models.changed", 4, options):
        real = inputs_of("llama", "right")["attention_mask"].bool().numpy()
        np.testing.assert_allclose(found[real], expected[real], rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.skipif(sys.platform != "linux", reason="reads what is mapped from /proc")
def test_queries_and_keys_of_several_files_are_mapped_and_not_copied(four: Ranks, tmp_path: Path):
    path, n, name = tmp_path / "x.safetensors", 6000, "model.layers.0.self_attn"
    four.run("traced_models.long", 2, str(path), n, ranks=[0, 1])
    trace, one = ch.load_trace(path), traced_models.long_alone(n)
    before = mapped_bytes(tmp_path)
    piece, expected = trace._takes[0].piece(name, 0), one._takes[0].piece(name, 0)
    assert mapped_bytes(tmp_path) - before >= piece.q.nbytes + piece.k.nbytes - 16 * PAGE  # 4 runs with 2 ends, twice
    assert piece.q.nbytes + piece.k.nbytes > 24 * PAGE
    for ours, whole in ((piece.q, expected.q), (piece.k, expected.k)):
        np.testing.assert_allclose(ours, whole, rtol=0, atol=NOISE)
        assert not ours.flags.writeable
    np.testing.assert_allclose(trace[0].row(n - 1), one[0].row(n - 1), rtol=0, atol=NOISE)


def mapped_bytes(folder: Path) -> int:
    total = 0
    for line in Path("/proc/self/maps").read_text().splitlines():
        if str(folder) in line:
            first, last = (int(x, 16) for x in line.split()[0].split("-"))
            total += last - first
    return total


def test_a_trace_that_is_open_stays_what_it_was(four: Ranks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "x.safetensors"
    four.run("traced_models.kept", "llama", 2, "none", "zigzag", str(path), False, ranks=[0, 1])
    trace = ch.load_trace("x.safetensors")
    expected = ch.load_trace("x.safetensors").sequences[0][1].weights()
    four.run("traced_models.kept", "mistral", 2, "none", "zigzag", str(path), False, ranks=[0, 1])
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    np.testing.assert_array_equal(trace.sequences[0][1].weights(), expected)
    assert np.abs(ch.load_trace(path).sequences[0][1].weights() - expected).max() > 1e-3


def test_the_file_of_rank_0_may_be_renamed_alone(four: Ranks, tmp_path: Path):
    path = tmp_path / "x.safetensors"
    four.run("traced_models.kept", "llama", 2, "none", "zigzag", str(path), False, ranks=[0, 1])
    path.rename(tmp_path / "y.safetensors")
    assert len(ch.load_trace(tmp_path / "y.safetensors").sequences) == 2
    (tmp_path / "x.1-of-2.safetensors").rename(tmp_path / "y.1-of-2.safetensors")
    assert len(ch.load_trace(tmp_path / "y.safetensors").sequences) == 2


def test_an_older_file_of_the_same_name_is_not_taken_for_what_was_written(four: Ranks, tmp_path: Path):
    folders = [tmp_path / str(rank) for rank in range(2)]
    for folder in folders:
        folder.mkdir()
    traced_models.alone("llama", "none").save(folders[1] / "x.safetensors")
    said = four.run("traced_models.saved", "llama", 2, [str(x) for x in folders], ranks=[0, 1])
    assert "bring x.safetensors there" in said[1]


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("name", "a trace has one name on all ranks, got 0.safetensors, 1.safetensors; each writes a file of its own"),
        ("values", "the ranks do not agree on what was kept of layers: rank 0 has [[]], rank 1 has [['v']]"),
    ],
)
def test_ranks_that_keep_something_else_are_told_so(four: Ranks, tmp_path: Path, what: str, words: str):
    said = four.ask("traced_models.disagreeing", 2, str(tmp_path), what, ranks=[0, 1])
    assert all(isinstance(x, ValueError) and words in str(x) for x in said)
    assert list(tmp_path.iterdir()) == []


def test_files_on_several_machines_are_brought_together_by_hand(four: Ranks, tmp_path: Path):
    folders = [tmp_path / str(rank) for rank in range(2)]
    for folder in folders:
        folder.mkdir()
    said = four.run("traced_models.saved", "llama", 2, [str(x) for x in folders], ranks=[0, 1])
    assert "2 processes wrote, each its own part, and not all parts are beside it: bring x.1-of-2" in said[0]
    assert "bring x.safetensors there" in said[1]
    assert "(<Trace of LlamaForCausalLM: " in said[1]
    with pytest.raises(RefusedError, match=r"bring x.1-of-2.safetensors there"):
        ch.load_trace(folders[0] / "x.safetensors")
    with pytest.raises(RefusedError, match=r"x.1-of-2.safetensors is what one of several processes wrote.*x.safetens"):
        ch.load_trace(folders[1] / "x.1-of-2.safetensors")
    shutil.copy(folders[1] / "x.1-of-2.safetensors", folders[0])
    one = traced_models.alone("llama", "none").sequences[0]
    assert_same(ch.load_trace(folders[0] / "x.safetensors").sequences[0][1], one[1], NOISE)
    four.run("traced_models.saved", "llama", 2, [str(x) for x in folders], ranks=[0, 1])
    with pytest.raises(RefusedError, match=r"is a part of another trace than x.safetensors"):
        ch.load_trace(folders[0] / "x.safetensors")


@pytest.mark.parametrize("when", ["full", "cannot_begin"])
def test_a_rank_that_cannot_write_is_an_error_on_all_and_leaves_nothing(four: Ranks, tmp_path: Path, when: str):
    said = four.ask(f"traced_models.{when}", 4, str(tmp_path / "x.safetensors"))
    assert all(isinstance(x, Exception) and "No space left on device" in str(x) for x in said)
    assert "rank 1 could not take part" in str(said[0])
    assert list(tmp_path.iterdir()) == []


NEEDS_ALL = {
    "distances": lambda trace: trace.distances(),
    "plot('entropy')": lambda trace: trace.plot("entropy"),
    "value_norms": lambda trace: trace.value_norms(),
    "attribution": lambda trace: trace.attribution(3),
    "relevance": lambda trace: trace.relevance(),
    "to_html": lambda trace: trace.to_html(Path("page.html")),
}


@pytest.mark.parametrize("what", NEEDS_ALL)
def test_what_needs_all_positions_says_how_to_have_them(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    model, given = model_of("llama"), inputs_of("llama", "none")["input_ids"][:1]
    with group_of_one(), torch.no_grad():
        with parallel.context(model=model), ch.trace(model) as trace:
            model(given)
        with pytest.raises(NotImplementedError, match=r"needs all positions in one process.*trace.save\(path\)"):
            NEEDS_ALL[what](trace)
        trace.save(tmp_path / "x.safetensors")
    if what in ("distances", "plot('entropy')", "to_html"):  # the others need values, or gradients
        NEEDS_ALL[what](ch.load_trace(tmp_path / "x.safetensors"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ablate": {(0, 1): "mean"}}, "ablate with 'mean' needs all positions"),
        ({"cut_weights": {(0, 1): (2, 1)}}, "cut_weights needs all positions"),
    ],
)
def test_changes_that_need_all_positions_are_refused(options: dict, words: str):
    model, given = model_of("llama"), inputs_of("llama", "none")["input_ids"]
    refused = pytest.raises(NotImplementedError, match=words)
    with group_of_one(), parallel.context(model=model), refused, ch.trace(model, **options):
        model(given)
