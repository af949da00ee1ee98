from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel, ViTConfig, ViTForImageClassification

from clearhead.textbook.model_cost import MODELS, ModelShape, model_cost


def built(model, **options):
    """A model of transformers with no memory behind its numbers, so that GPT-3 fits too."""
    with torch.device("meta"):
        return model(options.pop("config"), **options)


JUDGES = {
    "bert-base": lambda: built(BertModel, config=BertConfig(attn_implementation="eager")),
    "bert-large": lambda: built(
        BertModel,
        config=BertConfig(
            num_hidden_layers=24,
            hidden_size=1024,
            num_attention_heads=16,
            intermediate_size=4096,
            attn_implementation="eager",
        ),
    ),
    "gpt-3": lambda: built(
        GPT2LMHeadModel,
        config=GPT2Config(n_layer=96, n_embd=12_288, n_head=96, n_positions=2048, attn_implementation="eager"),
    ),
    "vit-b/16": lambda: built(
        ViTForImageClassification, config=ViTConfig(num_labels=1000, attn_implementation="eager")
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_transformers_builds_as_many_parameters(name):
    judge = JUDGES[name]()
    assert model_cost(name).parameters == sum(parameter.numel() for parameter in judge.parameters())


@pytest.mark.parametrize("name", ["bert-base", "vit-b/16"])
def test_torch_counts_as_many_flops(name):
    judge = JUDGES[name]().eval()
    image = torch.empty(1, 3, 224, 224, device="meta")
    words = torch.zeros(1, 211, dtype=torch.long, device="meta")
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        judge(image if name == "vit-b/16" else words)
    assert model_cost(name, None if name == "vit-b/16" else 211).flops == counter.get_total_flops()


@pytest.mark.parametrize(
    ("name", "exact", "published"),
    [
        ("bert-base", 109_482_240, 110e6),
        ("bert-large", 335_141_888, 340e6),
        ("gpt-3", 174_604_259_328, 175e9),
        ("vit-b/16", 86_567_656, 86e6),
    ],
)
def test_the_totals_are_the_published_figures(name, exact, published):
    cost = model_cost(name)
    assert cost.parameters == exact
    assert cost.parameters == pytest.approx(published, rel=0.015)


def test_attention_s_share_of_the_work_grows_with_the_length():
    def share(n):
        cost = model_cost("gpt-3", n)
        return cost.parts["attention"][1] / cost.flops

    assert share(16) < share(256) < share(2048)
    # per token a forward pass takes about two FLOPs per parameter, plus what attention adds
    assert model_cost("gpt-3", 1).flops == pytest.approx(2 * 174.6e9, rel=0.001)


def test_a_shape_of_one_s_own():
    shape = ModelShape(13, 2, 30, 5, 7, {"words": 11}, norms=3, maps={"all": (30, 4, 0)}, tied=True)
    cost = model_cost(shape, 12)
    attention = 4 * (30 * 30 + 30), 8 * 12 * 30 * 30 + 4 * 12 * 12 * 30
    feed_forward = 2 * 30 * 7 + 7 + 30, 4 * 12 * 30 * 7
    assert cost.parts == {
        "words": (330, 0),
        "attention": (2 * attention[0], 2 * attention[1]),
        "feed-forward": (2 * feed_forward[0], 2 * feed_forward[1]),
        "norms": (7 * 60, 0),
        "all": (30 * 4 + 4, 2 * 12 * 30 * 4),
        "prediction": (0, 2 * 12 * 30 * 11),
    }
    assert cost.flops == sum(flops for _, flops in cost.parts.values())


def test_printed_it_is_a_table():
    assert str(model_cost("bert-base", 1)).splitlines() == [
        "bert-base, n = 1",
        "               parameters        FLOPs",
        "words          23,440,896            0",
        "positions         393,216            0",
        "segments            1,536            0",
        "attention      28,348,416   56,659,968",
        "feed-forward   56,669,184  113,246,208",
        "norms              38,400            0",
        "pooler            590,592    1,179,648",
        "total         109,482,240  171,085,824",
    ]


@pytest.mark.parametrize(
    ("model", "n", "error", "said"),
    [
        ("bert", None, ValueError, "model must be one of 'bert-base', 'bert-large', 'gpt-3', 'vit-b/16', got 'bert'"),
        ("gpt-3", 4096, ValueError, "the model has 2048 positions, got n = 4096; give an n of at most 2048"),
        ("gpt-3", 0, ValueError, "n must be at least 1, got 0"),
        (ModelShape(5, 1, 7, 2, 3, {}), None, ValueError, "d_model = 7 cannot be divided among num_heads = 2"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_models_that_cannot_be_are_refused(model, n, error, said):
    with pytest.raises(error, match=said):
        model_cost(model, n)
