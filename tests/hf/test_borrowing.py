"""A model is borrowed for a block and for some threads, and nobody else notices."""

from __future__ import annotations

import copy
import pickle
import threading

import pytest
import torch
import transformers as t

from clearhead.hf import borrowed, on_the_interface
from clearhead.hf.borrowing import _holders
from clearhead.hf.interface import told

from .models import made, tokens

CONFIG = t.LlamaConfig(
    vocab_size=97, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24,
    attn_implementation="eager",
)  # fmt: skip


def implementations(model):
    return {m.config._attn_implementation for m in model.modules() if hasattr(m, "config")}


@pytest.fixture
def model():
    torch.manual_seed(0)
    made = t.LlamaForCausalLM(CONFIG).eval()
    configs = {id(m): m.config for m in made.modules() if hasattr(m, "config")}
    yield made
    assert {id(m): m.config for m in made.modules() if hasattr(m, "config")} == configs
    assert all(m.config is configs[id(m)] for m in made.modules() if hasattr(m, "config"))
    assert implementations(made) == {"eager"}
    assert not _holders
    assert not told


def test_in_the_block_and_not_after_it(model):
    with borrowed(model):
        assert implementations(model) == {"clearhead"}
        assert isinstance(model.config, t.LlamaConfig)
        assert model.model.layers[0].self_attn.config is model.config, "what was one config still is one"
        assert model.config.hidden_size == 32


def test_an_exception_ends_it(model):
    with pytest.raises(KeyError), borrowed(model, each=print):
        raise KeyError


def test_another_model_with_the_same_config_is_not_concerned(model):
    other = t.LlamaForCausalLM(CONFIG).eval()
    assert other.config is model.config
    with borrowed(model):
        assert implementations(other) == {"eager"}


def test_blocks_are_nested(model):
    with borrowed(model):
        with borrowed(model.model):
            assert implementations(model) == {"clearhead"}
        assert implementations(model) == {"clearhead"}
    with borrowed(model.model):
        assert model.lm_head is not None
        assert implementations(model.model) == {"clearhead"}
        assert model.config._attn_implementation == "eager"
        with borrowed(model):
            assert implementations(model) == {"clearhead"}


def in_a_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_other_threads_are_not_concerned_unless_meant(model):
    ids, called = tokens(), []
    with torch.no_grad():
        expected = model(ids).logits
    with borrowed(model, thread=threading.get_ident(), each=called.append):
        assert implementations(model) == {"clearhead"}
        assert in_a_thread(lambda: implementations(model)) == {"eager"}
        got = in_a_thread(lambda: model(ids).logits)
        assert torch.equal(got, expected), "by its own attention, to the bit"
        assert called == []
    with borrowed(model):
        assert in_a_thread(lambda: implementations(model)) == {"clearhead"}


def test_blocks_of_two_threads_overlap(model):
    entered, leave = threading.Event(), threading.Event()

    def other():
        with borrowed(model, thread=threading.get_ident()):
            entered.set()
            leave.wait(10)
            return implementations(model)

    found = []
    thread = threading.Thread(target=lambda: found.append(other()))
    with borrowed(model, thread=threading.get_ident()):
        thread.start()
        assert entered.wait(10)
    assert implementations(model) == {"eager"}
    leave.set()
    thread.join()
    assert found == [{"clearhead"}]


def test_each_call_is_told_with_its_module(model):
    ids, called, inner = tokens(), [], []
    with borrowed(model, each=called.append), torch.no_grad():
        model(ids)
        with borrowed(model.model.layers[1], each=inner.append):
            model(ids)
    attention = [layer.self_attn for layer in model.model.layers]
    assert called == attention * 2
    assert inner == attention[1:]


def test_copies_made_inside_are_plain(model):
    with borrowed(model):
        copies = copy.deepcopy(model), pickle.loads(pickle.dumps(model.config)), copy.copy(model.config)
    assert type(copies[0].config) is t.LlamaConfig
    assert implementations(copies[0]) == {"eager"}
    assert type(copies[1]) is t.LlamaConfig


def test_a_config_that_is_replaced_inside_stays(model):
    other, before = copy.deepcopy(model.config), model.config
    with borrowed(model):
        model.config = other
    assert model.config is other
    model.config = before


def test_an_attention_chosen_inside_stands_for_the_other_threads(model):
    with borrowed(model, thread=threading.get_ident()):
        model.set_attn_implementation("sdpa")
        assert implementations(model) == {"clearhead"}
        assert in_a_thread(lambda: implementations(model)) == {"sdpa"}


def test_which_models_are_on_the_interface():
    assert on_the_interface(made("llama"))
    assert on_the_interface(made("t5"))
    bloom = t.BloomModel(t.BloomConfig(vocab_size=97, hidden_size=32, n_layer=1, n_head=4))
    assert not on_the_interface(bloom)
    assert not on_the_interface(torch.nn.Linear(2, 2))


def test_configs_inside_configs():
    text = {
        "vocab_size": 97,
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "intermediate_size": 24,
    }
    seen = {
        "image_size": 12,
        "patch_size": 4,
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "intermediate_size": 24,
    }
    model = t.CLIPModel(t.CLIPConfig(text_config=text, vision_config=seen, attn_implementation="eager")).eval()
    with borrowed(model):
        assert implementations(model) == {"clearhead"}
        assert model.vision_model.config is model.config.vision_config
        assert model.config.text_config._attn_implementation == "clearhead"
    assert implementations(model) == {"eager"}
