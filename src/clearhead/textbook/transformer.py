"""The whole Transformer: an encoder that reads, a decoder that writes while looking at what was read.

    source ids ─▶ embed ─▶ encoder blocks ─▶ memory ───────┐
    target ids ─▶ embed ─▶ decoder blocks (looking at it) ◀┘ ─▶ logits over the target vocabulary

For inference only: the weights come from training elsewhere, through `load` or `load_parameters`.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike, DTypeLike

from clearhead import checks
from clearhead.textbook.decoder import DecoderBlock, DecoderBlockCache
from clearhead.textbook.encoder import EncoderBlock
from clearhead.textbook.masks import AnyMask, create_padding_mask
from clearhead.textbook.module import Module, float_type, generator, project, rows_of_width, xavier_uniform
from clearhead.textbook.norms import make_norm
from clearhead.textbook.positions import add_positional_encoding

TIES = ("none", "output", "all")


class EncoderOutput(NamedTuple):
    """memory (…, n_s, d_model), mask (…, 1, 1, n_s) hiding its padding, and per block weights (…, h, n_s, n_s)."""

    memory: np.ndarray
    mask: np.ndarray
    weights: tuple[np.ndarray, ...]


class DecoderOutput(NamedTuple):
    """logits (…, n_t, target_vocab), and the weights of every block.

    self_weights (…, h, n_t, n_past + n_t)  cross_weights (…, h, n_t, n_s), one per block
    """

    logits: np.ndarray
    self_weights: tuple[np.ndarray, ...]
    cross_weights: tuple[np.ndarray, ...]


class TransformerOutput(NamedTuple):
    """logits (…, n_t, target_vocab), and the weights of every block.

    encoder_weights (…, h, n_s, n_s)  self_weights (…, h, n_t, n_t)  cross_weights (…, h, n_t, n_s), one per block
    """

    logits: np.ndarray
    encoder_weights: tuple[np.ndarray, ...]
    self_weights: tuple[np.ndarray, ...]
    cross_weights: tuple[np.ndarray, ...]


class DecoderCache:
    """What a decoder remembers from call to call: the caches of its blocks, and which earlier tokens were padding."""

    def __init__(self, num_blocks: int) -> None:
        self.blocks = [DecoderBlockCache.empty() for _ in range(num_blocks)]
        self.mask: np.ndarray | None = None  # (…, 1, 1, length)

    @property
    def length(self) -> int:
        """How many target tokens it has seen."""
        return 0 if self.mask is None else self.mask.shape[-1]

    def select(self, indices: ArrayLike) -> DecoderCache:
        """A new cache with the given sentences of the first batch axis, in that order, some perhaps repeated."""
        chosen = DecoderCache(0)
        chosen.blocks = [block.select(indices) for block in self.blocks]
        chosen.mask = None if self.mask is None else self.mask[np.asarray(indices)]
        return chosen

    def extended_mask(self, mask: np.ndarray) -> np.ndarray:
        """The mask of all tokens, earlier and new: (…, 1, 1, n) → (…, 1, 1, length + n)."""
        if self.mask is None:
            return mask
        if mask.shape[:-1] != self.mask.shape[:-1]:
            raise ValueError(
                f"the cache holds sentences with leading dimensions {self.mask.shape[:-3]}, got target_ids with "
                f"{mask.shape[:-3]}; cache.select picks and repeats sentences"
            )
        return np.concatenate([self.mask, mask], axis=-1)


class Transformer(Module):
    """The encoder–decoder of "Attention is all you need", with today's variations.

    Embeddings are multiplied by √d_model and sinusoidal positions are added. `num_layers` counts encoder blocks, and
    decoder blocks too unless `num_decoder_layers` says otherwise. `final_norm` puts a norm after the last block of
    each stack; it is on with pre-norm, where nothing else would do it, and off with post-norm, unless given.
    `tie="output"` uses the target embedding as the output projection as well, `tie="all"` the source embedding for
    both, which takes one vocabulary for the two languages. `pad_id` marks padding in both.
    """

    follows: ClassVar[dict[str, str]] = {"num_decoder_layers": "num_layers", "final_norm": "norm_first"}

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
        seed: int | np.random.Generator = 0,
        dtype: DTypeLike = np.float64,
    ) -> None:
        self.source_vocab = checks.count("source_vocab", source_vocab)
        self.target_vocab = checks.count("target_vocab", target_vocab)
        self.d_model = checks.count("d_model", d_model)
        self.num_heads = checks.count("num_heads", num_heads)
        self.d_ff = checks.count("d_ff", d_ff)
        self.num_layers = checks.count("num_layers", num_layers)
        self.num_decoder_layers = checks.count(
            "num_decoder_layers", num_layers if num_decoder_layers is None else num_decoder_layers
        )
        self.num_kv_heads, self.norm_first, self.norm = num_kv_heads, bool(norm_first), norm
        self.final_norm = self.norm_first if final_norm is None else bool(final_norm)
        self.activation, self.bias, self.eps = activation, bool(bias), eps
        self.tie = checks.choice("tie", tie, TIES)
        self.pad_id = checked_pad_id(pad_id, self.source_vocab, self.target_vocab)
        self.dtype = float_type(dtype)
        if self.tie == "all" and self.source_vocab != self.target_vocab:
            raise ValueError(
                f"tie='all' shares one embedding, but source_vocab = {source_vocab} and target_vocab = {target_vocab} "
                "differ; build one vocabulary for both languages, or use tie='output'"
            )

        rng = generator(seed)
        norms: dict[str, Any] = {"eps": eps, "bias": self.bias, "dtype": self.dtype}
        block: dict[str, Any] = {
            "norm_first": norm_first,
            "norm": norm,
            "activation": activation,
            "num_kv_heads": num_kv_heads,
            "bias": bias,
            "eps": eps,
            "seed": rng,
            "dtype": self.dtype,
        }
        shape = (d_model, num_heads, d_ff)
        self.source_embedding = xavier_uniform(rng, self.source_vocab, d_model, self.dtype)
        if self.tie != "all":
            self.target_embedding = xavier_uniform(rng, self.target_vocab, d_model, self.dtype)
        self.encoder = [EncoderBlock(*shape, **block) for _ in range(self.num_layers)]
        self.encoder_norm = make_norm(norm, d_model, **norms) if self.final_norm else None
        self.decoder = [DecoderBlock(*shape, **block) for _ in range(self.num_decoder_layers)]
        self.decoder_norm = make_norm(norm, d_model, **norms) if self.final_norm else None
        if self.tie == "none":
            self.W_out = xavier_uniform(rng, d_model, self.target_vocab, self.dtype)
        self.b_out = np.zeros(self.target_vocab, self.dtype) if self.bias else None

    def forward(self, source_ids: ArrayLike, target_ids: ArrayLike) -> TransformerOutput:
        """What follows each target token, given the source and the target tokens up to it.

        source_ids (…, n_s)  target_ids (…, n_t) → logits (…, n_t, target_vocab) and the weights of every block
        """
        encoded = self.encode(source_ids)
        decoded = self.decode(target_ids, encoded.memory, encoded.mask)
        return TransformerOutput(decoded.logits, encoded.weights, decoded.self_weights, decoded.cross_weights)

    __call__ = forward

    def encode(self, source_ids: ArrayLike) -> EncoderOutput:
        """source_ids (…, n_s) → memory (…, n_s, d_model), mask (…, 1, 1, n_s), weights (…, h, n_s, n_s) per block"""
        source_ids = checked_ids("source_ids", source_ids, self.source_vocab)
        mask = create_padding_mask(source_ids, self.pad_id)
        x = self._embedded(source_ids, self.source_embedding, self.source_vocab)
        weights = []
        for block in self.encoder:
            x, block_weights = block(x, mask)
            weights.append(block_weights)
        return EncoderOutput(x if self.encoder_norm is None else self.encoder_norm(x), mask, tuple(weights))

    def decode(
        self,
        target_ids: ArrayLike,
        memory: Float[np.ndarray, "... n_s d_model"],
        memory_mask: AnyMask | None = None,
        *,
        cache: DecoderCache | None = None,
    ) -> DecoderOutput:
        """target_ids (…, n_t)  memory (…, n_s, d_model)  memory_mask (…, 1, 1, n_s), both as `encode` gives them
        → logits (…, n_t, target_vocab), self_weights (…, h, n_t, n_past + n_t), cross_weights (…, h, n_t, n_s)

        With a `cache` from new_cache, target_ids are only the new tokens and continue those of earlier calls.
        """
        target_ids = checked_ids("target_ids", target_ids, self.target_vocab)
        memory = rows_of_width("memory", memory, self.d_model)
        cache = self.new_cache() if cache is None else cache
        if len(cache.blocks) != len(self.decoder):
            raise ValueError(
                f"the cache is for {len(cache.blocks)} decoder blocks, this model has {len(self.decoder)}; "
                "make one with this model's new_cache()"
            )
        mask = cache.extended_mask(create_padding_mask(target_ids, self.pad_id))
        table = self.source_embedding if self.tie == "all" else self.target_embedding
        x = self._embedded(target_ids, table, self.target_vocab, start=cache.length)
        self_weights, cross_weights = [], []
        block_caches = [
            block_cache.copy() for block_cache in cache.blocks
        ]  # a call that fails leaves `cache` as it was
        for block, block_cache in zip(self.decoder, block_caches, strict=True):
            x, from_self, from_cross = block(x, memory, mask, memory_mask, cache=block_cache)
            self_weights.append(from_self)
            cross_weights.append(from_cross)
        x = x if self.decoder_norm is None else self.decoder_norm(x)
        logits = project(x, self.W_out if self.tie == "none" else table.T, self.b_out, "out")
        cache.blocks, cache.mask = block_caches, mask
        return DecoderOutput(logits, tuple(self_weights), tuple(cross_weights))

    def new_cache(self) -> DecoderCache:
        """An empty cache for decoding step by step."""
        return DecoderCache(len(self.decoder))

    def _embedded(self, ids: np.ndarray, table: np.ndarray, vocab: int, start: int = 0) -> np.ndarray:
        """ids (…, n)  table (vocab, d_model) → (…, n, d_model), the first token being at position `start`"""
        table = checks.float_array("embedding", table)
        if table.shape != (vocab, self.d_model):
            raise ValueError(
                f"an embedding must have shape (vocabulary, d_model) = {(vocab, self.d_model)}, got {table.shape}"
            )
        rows = table[ids].astype(checks.compute_type(table.dtype))
        return add_positional_encoding(rows * math.sqrt(self.d_model), start=start).astype(table.dtype)


def checked_ids(name: str, ids: ArrayLike, vocab: int) -> np.ndarray:
    """Token ids (…, n), each the number of a row of the embedding."""
    array = np.asarray(ids)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, got {array.dtype.name} (token ids are row numbers of the embedding)")
    if array.ndim < 1:
        raise ValueError(f"{name} needs at least 1 dimension, (…, n), got a single number")
    if array.size and not (array.min() >= 0 and array.max() < vocab):
        raise ValueError(
            f"{name} must be in [0, {vocab - 1}] for a vocabulary of {vocab}, got {array.min()} … {array.max()}"
        )
    return array


def checked_pad_id(pad_id: int, source_vocab: int, target_vocab: int) -> int:
    """Padding is a token of both vocabularies."""
    pad_id = checks.count("pad_id", pad_id, least=0)
    if pad_id >= min(source_vocab, target_vocab):
        raise ValueError(
            f"pad_id must be a token of both vocabularies, in [0, {min(source_vocab, target_vocab) - 1}], got {pad_id}"
        )
    return pad_id
