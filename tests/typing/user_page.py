"""A page of a user's code: everything the README shows, as someone would write it who checks types strictly.

It is read by mypy and not run; the README itself is run by `tests/test_documents.py`.
"""

from __future__ import annotations

from typing import assert_type

import numpy as np
import torch

import clearhead as ch
import clearhead.torch as cht
from clearhead import attention, biases, masks


def with_weights() -> None:
    tokens = ["나는", "오늘", "학교에", "간다"]
    K = np.eye(4)
    V = np.array([[1, 0], [2, 0], [3, 0], [4, 1]], float)
    output, weights = ch.scaled_dot_product_attention(4 * K, K, V)
    assert np.allclose(ch.softmax(4 * K @ K.T / np.sqrt(4)), weights)
    assert np.allclose(weights @ V, output)
    _, causal_weights = ch.scaled_dot_product_attention(K, K, V, ch.create_causal_mask(4))
    ch.scaled_dot_product_attention(K, K, V, masks.causal(), bias=np.zeros((4, 4)), scale=0.5)
    ch.validate_attention(causal_weights)
    match = ch.patterns.name_pattern(causal_weights)
    print(match.name, np.round(match.score, 2))
    figure = ch.visualize_attention(weights, tokens, title="Who looks at whom", save="attention.png")
    figure.set_size_inches(4, 4)


def heads() -> None:
    rng = np.random.default_rng(0)
    layer = ch.MultiHeadAttention(d_model=512, num_heads=8, seed=0)
    x, memory = rng.standard_normal((2, 16, 512)), rng.standard_normal((2, 11, 512))
    y, head_weights = layer(x)
    y, head_weights = layer(x, memory, mask=masks.key_lengths([11, 7]))
    print(y.shape, head_weights.shape, f"{layer.num_parameters:,} parameters", layer)
    block = ch.EncoderBlock(512, 8, 64)
    print(block(x, mask=masks.causal()).weights.shape, ch.LayerNorm(512)(x).shape, ch.FeedForward(512, 64)(x).shape)
    model = ch.Transformer(7, 5, d_model=12, num_heads=3, num_layers=2, d_ff=7)
    print(model(np.array([[1, 2]]), np.array([[3]])).logits.shape)


def long_sequences() -> None:
    rng = np.random.default_rng(0)
    q = rng.standard_normal((8, 4096, 64), dtype=np.float32)
    k = rng.standard_normal((2, 4096, 64), dtype=np.float32)
    v = rng.standard_normal((2, 4096, 64), dtype=np.float32)
    recent = masks.causal() & masks.window(256) | ~masks.prefix(3)
    out = assert_type(attention(q, k, v, mask=recent), np.ndarray)
    attention(q, k, v, recent, bias=biases.alibi(8), softcap=30.0, sinks=np.zeros(8), dropout=0.1, seed=1, strict=True)
    expected, _ = ch.scaled_dot_product_attention(q[:, -5:], k, v, recent.array(5, 4096))
    assert np.allclose(out[:, -5:], expected, atol=1e-6)
    last = q[:, -5:]
    parts = [attention(last, k[:, s], v[:, s], return_lse=True) for s in (slice(0, 1000), slice(1000, None))]
    joined, lse = assert_type(ch.merge(parts), tuple[np.ndarray, np.ndarray])
    print(joined.shape, lse.shape, attention(q, k, v, part=ch.Part(0, 0), return_lse=True)[1].shape)
    print(ch.explain(q, k, v, recent, of="look", top_k=3).slow)
    view = ch.look(q, k, mask=masks.causal(), tokens=None, strict=True)
    print(view, view.patterns(), view.weights(head=0, rows=2000, cols=slice(1997, 2002)).round(3), view.map())
    print(view.entropy.mean(), view.received.sum(), view.top_k.indices, view.average(), ch.get_num_threads())


def translated() -> None:
    (found,) = ch.Translator.load().translate(["고양이가 쥐를 잡았다"])
    print(found.text)


def in_pytorch(model: torch.nn.Module, x: torch.Tensor) -> None:
    mask = masks.causal() & masks.window(64)
    out = assert_type(cht.attention(x, x, x, mask=mask), torch.Tensor)
    out.sum().backward()  # type: ignore[no-untyped-call]
    assert_type(attention(x, x, x, mask), torch.Tensor)
    pair = assert_type(cht.attention(x, x, x, return_lse=True), tuple[torch.Tensor, torch.Tensor])
    assert_type(attention(x, x, x, return_lse=True), tuple[torch.Tensor, torch.Tensor])
    ch.merge([pair, pair])
    cht.scaled_dot_product_attention(x, x, x, attn_mask=masks.causal(), is_causal=True)
    cht.MultiheadAttention(64, 8, batch_first=True)(x, x, x, attn_mask=masks.causal())
    cht.SelfAttention(d_model=64, num_heads=8, window=4, strict=True)(x)
    with cht.swapped(model) as swap:
        model(x)
    print(swap.calls, cht.explain(x, x, x, mask))
