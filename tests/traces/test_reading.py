"""Words, sentences and the parts of a conversation: which positions they are, and what attention they receive."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers as t
from tests.hf.models import made
from tests.text.test_labels import byte_level, word_piece

import clearhead as ch
from clearhead.traces.conversations import read
from clearhead.traces.reading import Grouping

KOREAN = "고양이가 쥐를 잡았다. The cat caught 뷁!"
CHAT = (
    "{{ bos_token }}{% for m in messages %}<|start|>{{ m['role'] }}\n{{ m['content'] | trim }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)
MESSAGES = [
    {"role": "system", "content": "학생이 책을 읽는다."},
    {"role": "user", "content": "user "},  # a word of the template too, and a space that it takes off
    {"role": "assistant", "content": "The cat"},
    {"role": "user", "content": "쥐를 잡았다."},
]


@pytest.fixture(scope="module")
def chatting():
    tokenizer = byte_level()
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|start|>"], "bos_token": "<|end|>"})
    tokenizer.chat_template = CHAT
    return tokenizer


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 24}
    return t.LlamaForCausalLM(t.LlamaConfig(**sizes, vocab_size=320, eos_token_id=None, pad_token_id=0)).eval()


def traced(model, ids, **options):
    with torch.no_grad(), ch.trace(model, **options) as trace:
        model(torch.as_tensor(ids)[None])
    return trace


@pytest.mark.parametrize("kind", [byte_level, word_piece])
@pytest.mark.parametrize("with_text", [True, False])
def test_tokens_make_up_words(kind, with_text, model):
    tokenizer = kind()
    text = "고양이가 쥐를 잡았다. The cat."
    ids = tokenizer(text)["input_ids"]
    trace = traced(model, ids).label(tokenizer, text if with_text else None)
    words = trace.words
    named = [name for name in words.names if not name.startswith("[")]  # [CLS] and [SEP] are words of their own
    lower = [name.lower() for name in named]
    assert lower == ["고양이가", "쥐를", "잡았다", ".", "the", "cat", "."]
    assert len(words.numbers) == len(ids) > len(words)
    assert (np.diff(words.numbers) >= 0).all()


def test_a_syllable_of_several_tokens_is_one_word(model):
    tokenizer = byte_level()
    ids = tokenizer(KOREAN)["input_ids"]
    words = traced(model, ids).label(tokenizer, KOREAN).words
    places = np.flatnonzero(words.numbers == words.number("뷁"))
    assert len(places) > 2  # its bytes
    assert words.ranges["뷁"] == range(places[0], places[-1] + 1)


def test_sentences_and_ranges(model):
    tokenizer = byte_level()
    ids = tokenizer(KOREAN)["input_ids"]
    sentences = traced(model, ids).label(tokenizer, KOREAN).sentences
    assert sentences.names == ["고양이가 쥐를 잡았다.", "The cat caught 뷁!"]
    first, second = sentences.ranges.values()
    assert (first.start, first.stop, second.stop) == (0, second.start, len(ids))
    with pytest.raises(KeyError, match="there is no 'third' among '고양이가"):
        sentences.number("third")


@pytest.mark.parametrize("with_text", [True, False])
def test_sentences_of_word_pieces_have_their_spaces(model, with_text):
    tokenizer = word_piece()
    text = "The cat caught. The mouse."
    ids = tokenizer(text)["input_ids"]
    sentences = traced(model, ids).label(tokenizer, text if with_text else None).sentences
    expected = ["The cat caught.", "The mouse."] if with_text else ["the cat caught .", "the mouse ."]
    assert [name for name in sentences.names if not name.startswith("[")] == expected


def said_by(spans, parts):
    """The text of each part; tokens may share a character."""
    whose = dict(sorted((i, name) for at, name in zip(spans.offsets, parts, strict=True) for i in range(*at)))
    return {x: "".join(spans.text[i] for i, name in whose.items() if name == x) for x in dict.fromkeys(parts)}


class TestConversation:
    @pytest.mark.parametrize("prompted", [True, False])
    def test_every_token_has_its_part(self, chatting, prompted):
        ids = chatting.apply_chat_template(MESSAGES, add_generation_prompt=prompted, return_dict=False)
        spans, parts = read(ids, chatting, MESSAGES)
        said = said_by(spans, parts)
        assert said["system"] == "학생이 책을 읽는다."
        assert said["user"] == "user"
        assert said["assistant"] == "The cat"
        assert said["user 2"] == "쥐를 잡았다."
        assert said["template"].startswith("<|end|><|start|>system\n<|end|>\n<|start|>user\n<|end|>")
        assert said["template"].endswith("<|start|>assistant\n" if prompted else "<|end|>\n")
        assert "generated" not in said

    def test_what_the_model_wrote_is_its_own_part(self, chatting, model):
        given = chatting.apply_chat_template(MESSAGES, add_generation_prompt=True, return_tensors="pt")
        with ch.trace(model) as trace:
            model.generate(**given, max_new_tokens=6, do_sample=False)
        parts = trace.label(chatting, messages=MESSAGES).parts
        n = given["input_ids"].shape[-1]
        assert parts.ranges["generated"] == range(n, n + 5)  # the last one was never read
        assert parts.names[-1] == "generated"

    def test_tools_and_such_by_the_text_that_was_written(self, chatting):
        text = "<|end|>tools: none\n" + chatting.apply_chat_template(MESSAGES, tokenize=False)
        ids = chatting(text)["input_ids"]
        _, parts = read(ids, chatting, MESSAGES, text)
        assert list(dict.fromkeys(parts)) == ["template", "system", "user", "assistant", "user 2"]
        with pytest.raises(ValueError, match="does not hold the content of 'user 2' after"):
            read(ids, chatting, [*MESSAGES[:3], {"role": "user", "content": "nothing of it"}], text)

    @pytest.mark.parametrize("by_text", [False, True], ids=["by the template", "by the text"])
    def test_several_texts_with_images_beside_them(self, chatting, by_text):
        """All texts of a message are its speaker's, and so are the images between, before and after them."""
        picture, words = {"type": "image"}, [{"type": "text", "text": x} for x in ("The cat", "쥐를", "잡았다.")]
        messages = [
            {"role": "user", "content": [picture, words[0], picture, picture, words[1], words[2]]},
            {"role": "assistant", "content": [{"type": "text", "text": "The"}]},
            {"role": "user", "content": [words[2], picture]},
        ]
        chatting.chat_template = (
            "{% for m in messages %}<|start|>{{ m['role'] }}\n{% for x in m['content'] %}"
            "{{ '<+>' if x['type'] == 'image' else x['text'] }}{% endfor %}<|end|>{% endfor %}"
        )
        try:
            text = chatting.apply_chat_template(messages, tokenize=False)
            spans, parts = read(chatting(text)["input_ids"], chatting, messages, text if by_text else None)
        finally:
            chatting.chat_template = CHAT
        said = said_by(spans, parts)
        first, last = ("", "") if by_text else ("<+>", "<+>")  # a text says nothing of what is beside its words
        assert said["user"] == f"{first}The cat<+><+>쥐를잡았다."
        assert said["assistant"] == "The"
        assert said["user 2"] == f"잡았다.{last}"

    def test_images_that_the_template_writes_elsewhere(self, chatting):
        """Before whose words they are: there they are the template's."""
        messages = [{"role": "user", "content": [{"type": "text", "text": "The cat"}, {"type": "image"}]}]
        chatting.chat_template = (
            "{% for m in messages %}{% for x in m['content'] if x['type'] == 'image' %}<+>{% endfor %}<|start|>"
            "{% for x in m['content'] if 'text' in x %}{{ x['text'] }}{% endfor %}{% endfor %}"
        )
        try:
            ids = chatting.apply_chat_template(messages, return_dict=False)
            spans, parts = read(ids, chatting, messages)
        finally:
            chatting.chat_template = CHAT
        assert spans.text == "<+><|start|>The cat"
        assert said_by(spans, parts) == {"template": "<+><|start|>", "user": "The cat"}

    def test_errors(self, chatting, model, unchecked):
        ids = chatting.apply_chat_template(MESSAGES, return_dict=False)
        trace = traced(model, ids)
        with pytest.raises(ValueError, match="nothing is known of the text that the tokens make, so there is no word"):
            _ = trace.words
        with pytest.raises(ValueError, match=r"of a conversation; trace.label\(tokenizer, messages=messages\)"):
            _ = trace.label(chatting).parts
        with pytest.raises(ValueError, match="the tokenizer has no chat template to write them with"):
            read(ids, byte_level(), MESSAGES)
        with pytest.raises(ValueError, match="the ids are not what the chat template makes of the messages: the"):
            read(ids, chatting, [{"role": "user", "content": "고양이가"}])
        with pytest.raises(TypeError, match="a message is a mapping such as"):
            read(ids, chatting, ["쥐를"])
        chatting.chat_template = "{% for m in messages %}{{ m['content'] | upper }}{% endfor %}"
        try:
            shouted = chatting.apply_chat_template([{"role": "user", "content": "cat"}], return_dict=False)
            with pytest.raises(ValueError, match="does not write 'user' as it stands in the messages"):
                read(shouted, chatting, [{"role": "user", "content": "cat"}])
        finally:
            chatting.chat_template = CHAT


class TestShares:
    def test_are_sums_of_weights(self, chatting, model, unchecked):
        ids = chatting.apply_chat_template(MESSAGES, return_dict=False)
        trace = traced(model, ids).label(chatting, messages=MESSAGES)
        parts = trace.parts
        shares = trace.shares(parts)
        of_user = trace.shares(parts, of="user 2")
        assert list(shares) == trace.names
        for name in trace.names:
            weights = trace[name].weights()
            for number in range(len(parts)):
                given = weights[..., parts.numbers == number].sum(-1)
                np.testing.assert_allclose(shares[name][:, number], given.mean(-1), atol=1e-6)
                asked = given[:, parts.numbers == parts.number("user 2")]
                np.testing.assert_allclose(of_user[name][:, number], asked.mean(-1), atol=1e-6)
            np.testing.assert_allclose(shares[name].sum(-1), 1, atol=1e-5)
        _, head, *rows = repr(shares).splitlines()
        assert head.split() == ["template", "system", "user", "assistant", "user", "2"]
        assert rows[0].split()[0] == "model.layers.0.self_attn"
        with pytest.raises(TypeError, match=r"such as trace.parts, trace.words or trace.sentences, got list"):
            trace.shares([0, 1])
        other = traced(model, ids[:9]).label(chatting)
        with pytest.raises(ValueError, match="no layer has 9 keys"):
            trace.shares(other.words)

    def test_an_encoder_is_read_in_the_words_of_its_own_text(self):
        tokenizer = word_piece()
        text = "고양이가 쥐를 잡았다."
        ids = torch.tensor(tokenizer(text)["input_ids"])[None] % 97
        t5 = made("t5")
        with torch.no_grad(), ch.trace(t5) as trace:
            t5(input_ids=ids, decoder_input_ids=torch.tensor([[0, 5, 6]]))
        words = trace.label(tokenizer, text).words
        assert words.source
        shares = trace.shares(words)
        assert {name.split(".")[0] for name in shares} == {"encoder", "decoder"}
        assert all("SelfAttention" in name for name in shares if name.startswith("encoder"))
        assert all("EncDecAttention" in name for name in shares if name.startswith("decoder"))


def test_a_batch_is_labelled_one_by_one(model):
    tokenizer = byte_level()
    texts = ["고양이가 쥐를 잡았다.", "The cat"]
    given = tokenizer(texts, padding=True, return_tensors="pt")
    with torch.no_grad(), ch.trace(model) as trace:
        model(**{name: given[name] for name in ("input_ids", "attention_mask")})
    trace.label(tokenizer, texts)
    assert [x.words.names for x in trace.sequences] == [["고양이가", "쥐를", "잡았다", "."], ["The", "cat"]]
    trace.label(tokenizer, texts[:1])
    with pytest.raises(ValueError, match="text is one for each of 2 sequences of the batch, got 1"):
        _ = trace.sequences[0].words


def test_all_of_it_is_in_the_file(chatting, model, tmp_path):
    ids = chatting.apply_chat_template(MESSAGES, return_dict=False)
    trace = traced(model, ids).label(chatting, messages=MESSAGES)
    trace.save(tmp_path / "x.safetensors")
    loaded = ch.load_trace(tmp_path / "x.safetensors")
    for of in ("words", "sentences", "parts"):
        got, expected = getattr(loaded, of), getattr(trace, of)
        assert got.names == expected.names
        np.testing.assert_array_equal(got.numbers, expected.numbers)
    assert loaded[0].tokens.keys == trace[0].tokens.keys


def test_each_of_several_calls_has_its_own_labels(model, tmp_path):
    tokenizer = byte_level()
    with torch.no_grad(), ch.trace(model) as trace:
        for text in ("The cat", "쥐를 잡았다."):
            model(torch.tensor(tokenizer(text)["input_ids"])[None])
    trace.label(tokenizer)
    trace.save(tmp_path / "x.safetensors")
    loaded = ch.load_trace(tmp_path / "x.safetensors")
    for found in (trace, loaded):
        assert [call.words.names for call in found.calls] == [["The", "cat"], ["쥐를", "잡았다", "."]]


def test_without_ids_there_are_no_words():
    vit = made("vit")
    with torch.no_grad(), ch.trace(vit) as trace:
        vit(torch.zeros(1, 3, 12, 12))
    with pytest.raises(ValueError, match="was not called with ids of tokens, which would make up each word"):
        _ = trace.words


def test_ranges_of_many_groups_take_one_pass():
    """Those whose positions are neighbours and whose names are their own; -1 is in no group."""
    numbers = np.array([-1, 0, 0, 1, 2, 1, 3, 4, 4, -1])
    assert Grouping(["a", "b", "c", "d", "d"], numbers).ranges == {"a": range(1, 3), "c": range(4, 5)}
    n = 100_000  # a pass for each group would be 10¹⁰ steps
    found = Grouping([str(i) for i in range(n)], np.arange(n)).ranges
    assert found["99999"] == range(99_999, 100_000)
    assert len(found) == n
