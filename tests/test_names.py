"""What is answered to names that other libraries have and this one has not."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import numpy as np
import pytest
import torch

import clearhead as ch
import clearhead.torch as cht
from clearhead.names import INSTEAD, check_options, own_options

ARRAY, TENSOR = np.zeros((2, 5, 7), np.float32), torch.zeros(2, 5, 7)
FUNCTIONS = {
    "attention": (ch.attention, ARRAY),
    "attention of tensors": (ch.attention, TENSOR),
    "explain": (ch.explain, ARRAY),
    "look": (ch.look, ARRAY),
    "textbook": (ch.scaled_dot_product_attention, ARRAY),
    "torch.attention": (cht.attention, TENSOR),
    "torch.explain": (cht.explain, TENSOR),
}

pytestmark = pytest.mark.usefixtures("unchecked")


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    ("options", "answer"),
    [
        ({"causal": True}, "has no causal=; write mask=masks.causal() (from clearhead import masks)"),
        ({"is_causal": False}, "has no is_causal=; write mask=masks.causal() (from clearhead import masks)"),
        ({"attn_mask": None}, "has no attn_mask=; write mask=attn_mask, in which True = may attend"),
        (
            {"key_padding_mask": None},
            "has no key_padding_mask=; write mask=~key_padding_mask[:, None, None, :], in which",
        ),
        (
            {"sliding_window": 4},
            "has no sliding_window=; write mask=masks.window(w): the query's own key and the w - 1",
        ),
        ({"alibi_slopes": 4}, "has no alibi_slopes=; write bias=biases.alibi(…) (from clearhead import biases)"),
        (
            {"enable_gqa": True},
            "has no enable_gqa=; leave it out: key/value heads that are fewer are shared as they are",
        ),
        (
            {"need_weights": True},
            "has no need_weights=; leave it out: clearhead.scaled_dot_product_attention returns all",
        ),
        ({"maks": None}, "has no maks=; did you mean mask=?"),
        ({"heads": 3, "mask": None}, "has no heads=; it takes "),
        ({"causal": True, "attn_bias": 0}, "clearhead import masks), and no attn_bias=; write bias=attn_bias"),
    ],
    ids=lambda x: None if isinstance(x, str) else " ".join(x),
)
def test_an_option_of_another_name_is_answered_with_what_to_write(name, options, answer):
    function, x = FUNCTIONS[name]
    with pytest.raises(TypeError) as refused:
        function(x, x, x, **options)
    assert str(refused.value).startswith(f"{function.__name__} has no ")
    assert answer in str(refused.value)


def test_an_option_that_the_function_has_not_is_no_answer():
    with pytest.raises(TypeError, match=r"look has no dropout_p=; it takes q, k, v, mask, bias, .*, padding$"):
        ch.look(ARRAY, ARRAY, dropout_p=0.1)
    with pytest.raises(TypeError, match=r"attention has no dropout_p=; write dropout=dropout_p, with a seed=$"):
        ch.attention(ARRAY, ARRAY, ARRAY, dropout_p=0.1)


def test_whatever_is_advised_is_there():
    """Each answer names an option of `attention`, or none, and no name is one that `attention` takes."""
    known = inspect.signature(ch.attention).parameters
    for name, instead in INSTEAD.items():
        option, is_option, _ = instead.partition("=")
        assert name not in known
        assert option in known or not is_option


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures_are_those_that_were_written(name):
    function, _ = FUNCTIONS[name]
    parameters = inspect.signature(function).parameters
    assert list(parameters)[3] == "mask"
    assert not any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters.values())


def test_an_error_inside_is_left_alone():
    @own_options
    def failing(x, mask=None):
        raise TypeError("of its own")

    with pytest.raises(TypeError, match=r"^of its own$"):
        failing(3, mask=4)


class TestModules:
    @pytest.mark.parametrize(
        ("module", "name", "hint"),
        [
            (ch, "MultiheadAttention", "clearhead has no MultiheadAttention; did you mean MultiHeadAttention?"),
            (ch, "scaled_dot_product", "did you mean scaled_dot_product_attention"),
            (ch, "CausalMask", "create_causal_mask"),
            (ch, "zzz", "clearhead has no zzz (dir(clearhead) lists what it has)"),
            (cht, "MultiHeadAttention", "clearhead.torch has no MultiHeadAttention; did you mean MultiheadAttention"),
        ],
    )
    def test_a_name_that_is_not_there_is_answered_with_the_nearest(self, module, name, hint):
        with pytest.raises(AttributeError, match=re.escape(hint)) as caught:
            getattr(module, name)
        assert caught.value.obj is None
        assert not hasattr(module, "__nothing__")

    def test_a_room_that_is_not_loaded_yet(self):
        code = "import clearhead; clearhead.torch"
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert "clearhead.torch is loaded by its name only: import clearhead.torch" in run.stderr


def test_an_option_that_is_handed_on_is_answered_with_the_nearest():
    def write(path, *, title=None, megabytes=10.0):
        pass

    check_options("to_html", {"title": "a"}, write)
    with pytest.raises(TypeError, match=re.escape("to_html has no titel=; did you mean title=?")):
        check_options("to_html", {"titel": "a"}, write)
    with pytest.raises(TypeError, match=re.escape("to_html has no x=; it takes title, megabytes")):
        check_options("to_html", {"x": 1}, write)


def test_a_page_names_the_option_that_was_meant(tmp_path):
    view = ch.look(ARRAY, ARRAY)
    with pytest.raises(TypeError, match=re.escape("to_html has no megabyte=; did you mean megabytes=?")):
        view.to_html(tmp_path / "page.html", megabyte=3)
    with pytest.raises(TypeError, match=re.escape("show has no langauge=; did you mean language=?")):
        view.show(langauge="ko")
