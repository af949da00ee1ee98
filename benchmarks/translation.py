"""The translator trained twice, on torch's nn.Transformer and on clearhead's: the time of a step, and what is learned.

Both begin with the same weights and see the same batches; the rest of the training is the very same code. Run alone,
`python -m benchmarks.translation`, it prints the two side by side.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from benchmarks import measure
from benchmarks.measure import OURS, THEIRS, Effort, Tick
from benchmarks.rows import SPEED, Goal, Peer, Row, Value, spread
from clearhead.textbook.positions import positional_encoding
from clearhead.torch.transformer import Transformer
from clearhead.translate.batches import Corpus
from clearhead.translate.dates import dates
from clearhead.translate.model import write
from clearhead.translate.recipes import RECIPES
from clearhead.translate.training import Trainer, exact_match
from clearhead.translate.vocabulary import PAD, Vocabulary

WARM_UP = 10  # steps that are not timed: they compile
LEAST_STEPS = 30


class Prefix:
    """What the decoder has been given so far, which is all that nn.Transformer can remember."""

    def __init__(self, ids: torch.Tensor | None = None) -> None:
        self.ids = ids

    def select(self, indices: torch.Tensor) -> Prefix:
        return Prefix(None if self.ids is None else self.ids[indices])


class TorchTransformer(nn.Module):
    """torch's own encoder–decoder with the weights of `model`, and its face: encode, decode, new_cache."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        settings = model.settings
        self.d_model = model.d_model
        self.embedding = nn.Parameter(model.source_embedding.detach().clone())
        self.b_out = nn.Parameter(model.b_out.detach().clone())
        # A nested tensor cannot be trained through, and warns about it.
        shape: dict[str, Any] = {"nhead": settings["num_heads"], "dim_feedforward": settings["d_ff"], "dropout": 0.0}
        shape |= {"norm_first": True, "batch_first": True}
        encoder = nn.TransformerEncoderLayer(self.d_model, **shape)
        decoder = nn.TransformerDecoderLayer(self.d_model, **shape)
        norms = [nn.LayerNorm(self.d_model) for _ in range(2)]
        layers, behind = settings["num_layers"], settings["num_decoder_layers"]
        self.encoder = nn.TransformerEncoder(encoder, layers, norms[0], enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(decoder, behind, norms[1])
        with torch.no_grad():
            copy_weights(model, self)

    def forward(self, source: torch.Tensor, given: torch.Tensor) -> torch.Tensor:
        """source (b, n_s)  given (b, n_t) → logits (b, n_t, vocabulary)"""
        return self.decode(given, *self.encode(source))

    def encode(self, source: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """source (b, n_s) → memory (b, n_s, d_model), real (b, n_s)"""
        real = source != PAD
        return self.encoder(self._embedded(source), src_key_padding_mask=~real), real

    def decode(
        self, given: torch.Tensor, memory: torch.Tensor, real: torch.Tensor, cache: Prefix | None = None
    ) -> torch.Tensor:
        """given (b, n_t) → logits (b, n_t, vocabulary); with a cache all that was given before is computed again."""
        n = given.shape[1]
        if cache is not None:
            cache.ids = given = given if cache.ids is None else torch.cat([cache.ids, given], dim=1)
        mask = nn.Transformer.generate_square_subsequent_mask(given.shape[1]).isinf()
        x = self.decoder(
            self._embedded(given), memory, tgt_mask=mask, tgt_key_padding_mask=given == PAD,
            memory_key_padding_mask=~real, tgt_is_causal=True,
        )  # fmt: skip
        return functional.linear(x[:, -n:], self.embedding, self.b_out)

    def new_cache(self) -> Prefix:
        return Prefix()

    def _embedded(self, ids: torch.Tensor) -> torch.Tensor:
        positions = torch.from_numpy(positional_encoding(ids.shape[1], self.d_model)).float()
        return functional.embedding(ids, self.embedding) * math.sqrt(self.d_model) + positions


def copy_weights(ours: Transformer, theirs: TorchTransformer) -> None:
    """Every weight of ours, in torch's layout: (out, in), and queries, keys and values in one."""

    def attention(layer: nn.MultiheadAttention, own: Any) -> None:
        layer.in_proj_weight.copy_(torch.cat([own.W_Q.T, own.W_K.T, own.W_V.T]))
        layer.in_proj_bias.copy_(torch.cat([own.b_Q, own.b_K, own.b_V]))
        layer.out_proj.weight.copy_(own.W_O.T)
        layer.out_proj.bias.copy_(own.b_O)

    def feed_forward(layer: Any, own: Any) -> None:
        for linear, weight, bias in ((layer.linear1, own.W_1, own.b_1), (layer.linear2, own.W_2, own.b_2)):
            linear.weight.copy_(weight.T)
            linear.bias.copy_(bias)

    for layer, own in zip(theirs.encoder.layers, ours.encoder, strict=True):
        attention(layer.self_attn, own.attention)
        feed_forward(layer, own.feed_forward)
    for layer, own in zip(theirs.decoder.layers, ours.decoder, strict=True):
        attention(layer.self_attn, own.self_attention)
        attention(layer.multihead_attn, own.cross_attention)
        feed_forward(layer, own.feed_forward)


def trainers(size: float) -> dict[str, Trainer]:
    """The training of the dates, once as it is and once on nn.Transformer."""
    recipe = RECIPES["dates"]
    task = dates(max(600, round(20_000 * size)), 100)
    vocabulary = Vocabulary(task.pieces)
    corpus = Corpus.encoded(task.train, vocabulary)
    steps = max(LEAST_STEPS, round(recipe.settings.steps * size))
    settings = replace(recipe.settings, steps=steps)
    made = {name: Trainer("dates", corpus, vocabulary, recipe.shape, settings) for name in (OURS, THEIRS)}
    theirs = made[THEIRS]
    theirs.model = TorchTransformer(made[OURS].model)  # type: ignore[assignment]
    theirs.optimiser = torch.optim.Adam(theirs.model.parameters(), betas=(0.9, 0.98), eps=1e-9, fused=True)
    return made


@dataclass(frozen=True)
class TranslationCase:
    """A row that trains both to the end, turn by turn, and lets both translate what they have never seen."""

    name: str = "translator of dates"
    group: str = "translation"
    against: str = "nn.Transformer"
    goals: tuple[Goal, ...] = ()
    needs: tuple[str, ...] = field(default=(), init=False)

    def measure(self, effort: Effort, threads: int, size: float = 1.0, tick: Tick = lambda share: None) -> Row:
        share = size if effort.rounds > measure.QUICK.rounds else 0.2 * size
        made = trainers(share)
        seconds: dict[str, list[float]] = {name: [] for name in made}
        losses: dict[str, list[float]] = {name: [] for name in made}
        steps = made[OURS].settings.steps
        for step in range(steps):
            for name in list(made) if step % 2 else list(made)[::-1]:
                began = time.perf_counter()
                losses[name].append(made[name].advance())
                if step >= WARM_UP:
                    seconds[name].append(time.perf_counter() - began)
            tick((step + 1) / steps)
        exact = {name: unseen(trainer) for name, trainer in made.items()}
        values = {SPEED: measure.ratio(seconds[THEIRS], seconds[OURS])}
        values |= {f"exact match, {name}": Value(found, found, found) for name, found in exact.items()}
        return Row(
            self.name, self.group, self.against, values, self.goals,
            {name: Peer(spread(times), None) for name, times in seconds.items()},
            len(seconds[OURS]),
            {f"last loss, {name}": losses[name][-1] for name in made} | {"steps": steps},
        )  # fmt: skip


def unseen(trainer: Trainer) -> float:
    """The share of held-out pairs that are translated to the letter when the model is left to itself."""
    written = write(trainer.model, trainer.held_out.sources, max_len=trainer.max_len)
    return exact_match(written, trainer.held_out, trainer.vocabulary)


def main(size: float = 1.0) -> None:
    row = TranslationCase().measure(Effort(), torch.get_num_threads(), size)
    print(f"{row.name}, {row.figures['steps']} steps with the same weights and batches at the beginning")
    for name, peer in row.peers.items():
        exact, loss = row.values[f"exact match, {name}"].number, row.figures[f"last loss, {name}"]
        print(
            f"{name:>10}: {1000 * peer.seconds.number:.1f} ms a step, held-out exact match {100 * exact:.1f} %, "
            f"last loss {loss:.4f}"
        )


if __name__ == "__main__":
    main()
