"""The whole Transformer, to be trained: the textbook's encoder–decoder on the kernels and under autograd.

    source ids ─▶ embed ─▶ encoder blocks ─▶ memory ───────┐
    target ids ─▶ embed ─▶ decoder blocks (looking at it) ◀┘ ─▶ logits over the target vocabulary

Its parameters have the textbook's names, shapes and numbers, so what is trained here is read there, weight by weight,
and shows its attention: `to_textbook`, `from_textbook`, and files that either of the two writes.
"""

from __future__ import annotations

import copy
import math
import os
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import nn
from torch.nn import functional

from clearhead import checks, textbook
from clearhead.tensors import to_numpy, to_torch
from clearhead.textbook.positions import positional_encoding
from clearhead.textbook.transformer import TIES, checked_pad_id
from clearhead.torch.layers import DecoderBlock, DecoderBlockCache, EncoderBlock, make_norm
from clearhead.torch.padding import real_keys
from clearhead.torch.self_attention import checked_rate, checked_rows, matrix, shift


class EncoderOutput(NamedTuple):
    """memory (…, n_s, d_model), and which of its positions are real and not padding: real (…, n_s)."""

    memory: torch.Tensor
    real: torch.Tensor


class DecoderCache:
    """What a decoder remembers from call to call: the caches of its blocks, and which earlier tokens were padding."""

    def __init__(self, num_blocks: int) -> None:
        self.blocks = [DecoderBlockCache.empty() for _ in range(num_blocks)]
        self.real: torch.Tensor | None = None  # (…, length)

    @property
    def length(self) -> int:
        """How many target tokens it has seen."""
        return 0 if self.real is None else self.real.shape[-1]

    def __copy__(self) -> DecoderCache:
        """A cache that goes on by itself from here."""
        other = DecoderCache(0)
        other.blocks, other.real = [copy.copy(block) for block in self.blocks], self.real
        return other

    def select(self, indices: Int[torch.Tensor, " b_new"]) -> DecoderCache:
        """A new cache with the given sentences of the first batch axis, in that order, some perhaps repeated."""
        chosen = DecoderCache(0)
        chosen.blocks = [block.select(indices) for block in self.blocks]
        chosen.real = None if self.real is None else self.real.index_select(0, indices)
        return chosen

    def extended(self, real: torch.Tensor) -> torch.Tensor:
        """Which of all tokens, earlier and new, are real: (…, n) → (…, length + n)."""
        if self.real is None:
            return real
        if real.shape[:-1] != self.real.shape[:-1]:
            raise ValueError(
                f"the cache holds sentences with leading dimensions {tuple(self.real.shape[:-1])}, got target_ids with "
                f"{tuple(real.shape[:-1])}; cache.select picks and repeats sentences"
            )
        return torch.cat([self.real, real], dim=-1)


class Transformer(nn.Module):
    """The encoder–decoder of "Attention is all you need", with today's variations.

    Settings as in `clearhead.Transformer`, and `dropout`, which is on in training only: on the embeddings, the weights
    of attention, inside the feed-forward, and on what each part of a block adds. `strict` as in SelfAttention.
    """

    def __init__(
        self,
        source_vocab: int,
        target_vocab: int,
        *,
        d_model: int,
        num_heads: int,
        num_layers: int,
        d_ff: int,
        num_decoder_layers: int | None = None,
        num_kv_heads: int | None = None,
        norm_first: bool = False,
        norm: str = "layer",
        final_norm: bool | None = None,
        activation: str = "relu",
        bias: bool = True,
        eps: float = 1e-5,
        tie: str = "none",
        pad_id: int = 0,
        dropout: float = 0.0,
        strict: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.source_vocab = checks.count("source_vocab", source_vocab)
        self.target_vocab = checks.count("target_vocab", target_vocab)
        self.d_model = checks.count("d_model", d_model)
        self.tie = checks.choice("tie", tie, TIES)
        self.pad_id = checked_pad_id(pad_id, self.source_vocab, self.target_vocab)
        self.dropout = checked_rate(dropout)
        if self.tie == "all" and self.source_vocab != self.target_vocab:
            raise ValueError(
                f"tie='all' shares one embedding, but source_vocab = {source_vocab} and target_vocab = {target_vocab} "
                "differ; build one vocabulary for both languages, or use tie='output'"
            )
        num_layers = checks.count("num_layers", num_layers)
        decoder_layers = checks.count(
            "num_decoder_layers", num_layers if num_decoder_layers is None else num_decoder_layers
        )
        final_norm = norm_first if final_norm is None else final_norm
        self.settings: dict[str, Any] = {
            "d_model": d_model, "num_heads": num_heads, "num_layers": num_layers, "d_ff": d_ff,
            "num_decoder_layers": decoder_layers, "num_kv_heads": num_kv_heads, "norm_first": norm_first, "norm": norm,
            "final_norm": final_norm, "activation": activation, "bias": bias, "eps": eps, "tie": tie, "pad_id": pad_id,
        }  # fmt: skip

        place: dict[str, Any] = {"device": device, "dtype": dtype}
        block: dict[str, Any] = {
            "norm_first": norm_first, "norm": norm, "activation": activation, "num_kv_heads": num_kv_heads,
            "bias": bias, "eps": eps, "dropout": dropout, "strict": strict, **place,
        }  # fmt: skip
        shape = (d_model, num_heads, d_ff)
        self.source_embedding = matrix(self.source_vocab, d_model, **place)
        if self.tie != "all":
            self.target_embedding = matrix(self.target_vocab, d_model, **place)
        self.encoder = nn.ModuleList(EncoderBlock(*shape, **block) for _ in range(num_layers))
        self.decoder = nn.ModuleList(DecoderBlock(*shape, **block) for _ in range(decoder_layers))
        self.encoder_norm = make_norm(norm, d_model, eps=eps, bias=bias, **place) if final_norm else None
        self.decoder_norm = make_norm(norm, d_model, eps=eps, bias=bias, **place) if final_norm else None
        if self.tie == "none":
            self.W_out = matrix(d_model, self.target_vocab, **place)
        self.b_out = shift(self.target_vocab, bias, **place)

    def forward(
        self, source_ids: Int[torch.Tensor, "... n_s"], target_ids: Int[torch.Tensor, "... n_t"]
    ) -> Float[torch.Tensor, "... n_t target_vocab"]:
        """What follows each target token, given the source and the target tokens up to it.

        source_ids (…, n_s)  target_ids (…, n_t) → logits (…, n_t, target_vocab)
        """
        return self.decode(target_ids, *self.encode(source_ids))

    def encode(self, source_ids: Int[torch.Tensor, "... n_s"]) -> EncoderOutput:
        """source_ids (…, n_s) → memory (…, n_s, d_model), real (…, n_s)"""
        source_ids = checked_ids("source_ids", source_ids, self.source_vocab)
        real = source_ids != self.pad_id
        mask = real_keys(real)
        x = self._embedded(source_ids, self.source_embedding)
        for block in self.encoder:
            x = block(x, mask)
        return EncoderOutput(x if self.encoder_norm is None else self.encoder_norm(x), real)

    def decode(
        self,
        target_ids: Int[torch.Tensor, "... n_t"],
        memory: Float[torch.Tensor, "... n_s d_model"],
        memory_real: Bool[torch.Tensor, "... n_s"] | None = None,
        *,
        cache: DecoderCache | None = None,
    ) -> Float[torch.Tensor, "... n_t target_vocab"]:
        """target_ids (…, n_t)  memory (…, n_s, d_model)  memory_real (…, n_s), both as `encode` gives them
        → logits (…, n_t, target_vocab)

        With a `cache` from new_cache, target_ids are only the new tokens and continue those of earlier calls.
        """
        target_ids = checked_ids("target_ids", target_ids, self.target_vocab)
        memory = checked_rows("memory", memory, self.d_model)
        if memory_real is not None and memory_real.shape != memory.shape[:-1]:
            raise ValueError(
                f"memory_real must have shape {tuple(memory.shape[:-1])}, one entry per position of memory, "
                f"got {tuple(memory_real.shape)}"
            )
        cache = self.new_cache() if cache is None else cache
        if len(cache.blocks) != len(self.decoder):
            raise ValueError(
                f"the cache is for {len(cache.blocks)} decoder blocks, this model has {len(self.decoder)}; "
                "make one with this model's new_cache()"
            )
        real = cache.extended(target_ids != self.pad_id)
        mask, memory_mask = real_keys(real), None if memory_real is None else real_keys(memory_real)
        table = self.source_embedding if self.tie == "all" else self.target_embedding
        x = self._embedded(target_ids, table, start=cache.length)
        drafts = [block_cache.draft() for block_cache in cache.blocks]  # a call that fails leaves `cache` as it was
        for block, draft in zip(self.decoder, drafts, strict=True):
            x = block(x, memory, mask, memory_mask, cache=draft)
        cache.blocks, cache.real = drafts, real
        x = x if self.decoder_norm is None else self.decoder_norm(x)
        return functional.linear(x, self.W_out.T if self.tie == "none" else table, self.b_out)

    def new_cache(self) -> DecoderCache:
        """An empty cache for decoding step by step."""
        return DecoderCache(len(self.decoder))

    def to_textbook(self) -> textbook.Transformer:
        """The same model in NumPy, with copies of the weights: it decodes, and shows what it looked at."""
        arrays = {name: to_numpy(p.cpu()) for name, p in self.named_parameters()}
        kind = arrays["source_embedding"].dtype
        model = textbook.Transformer(self.source_vocab, self.target_vocab, dtype=kind, **self.settings)
        model.load_parameters(arrays)
        return model

    @classmethod
    def from_textbook(
        cls,
        model: textbook.Transformer,
        *,
        dropout: float = 0.0,
        strict: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> Transformer:
        """The same model under autograd, with copies of the weights, in their type unless `dtype` says otherwise."""
        settings = model._settings()
        own = to_torch(np.zeros(1, settings.pop("dtype"))).dtype
        made = cls(**settings, dropout=dropout, strict=strict, device=device, dtype=own if dtype is None else dtype)
        made.load_state_dict({name: to_torch(np.array(array)) for name, array in model.parameters().items()})
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file that `clearhead.Transformer.save` would: either of the two loads it. Dropout is not kept."""
        self.to_textbook().save(path)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        dropout: float = 0.0,
        strict: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> Transformer:
        """The model that was saved at `path`, by this class or by `clearhead.Transformer`."""
        saved = textbook.Transformer.load(path)
        return cls.from_textbook(saved, dropout=dropout, strict=strict, device=device, dtype=dtype)

    def _embedded(self, ids: torch.Tensor, table: torch.Tensor, start: int = 0) -> torch.Tensor:
        """ids (…, n)  table (vocab, d_model) → (…, n, d_model), the first token being at position `start`"""
        encoding = to_torch(positional_encoding(start + ids.shape[-1], self.d_model)[start:])
        kind = torch.promote_types(table.dtype, torch.float32)
        x = functional.embedding(ids, table).to(kind) * math.sqrt(self.d_model) + encoding.to(table.device, kind)
        return functional.dropout(x.to(table.dtype), self.dropout, self.training)


def checked_ids(name: str, ids: torch.Tensor, vocab: int) -> torch.Tensor:
    """Token ids (…, n), each the number of a row of the embedding."""
    if ids.dtype not in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
        raise TypeError(f"{name} must be integers, got {ids.dtype} (token ids are row numbers of the embedding)")
    if ids.ndim < 1:
        raise ValueError(f"{name} needs at least 1 dimension, (…, n), got a single number")
    if ids.numel():
        low, high = (int(x) for x in torch.aminmax(ids))
        if low < 0 or high >= vocab:
            raise ValueError(f"{name} must be in [0, {vocab - 1}] for a vocabulary of {vocab}, got {low} … {high}")
    return ids.long()
