"""Whole models of transformers with random weights, as they are and with clearhead's attention in place of torch's.

The model is one and the same: attention is swapped for the turn of clearhead and put back afterwards. Once more it is
called through transformers' own interface, by the name that `clearhead.hf` registers.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import clearhead.torch as cht
from benchmarks import measure
from benchmarks.problems import Call, at

LAYERS, HEADS, VOCABULARY, LONGEST = 6, 8, 1000, 32768
NEW = 32  # words that are generated
PADDING = 0  # the number of a word that stands for none


def made(kind: str, size: float, layers: int = LAYERS, heads: int = HEADS) -> Any:
    """BERT 6 × 384, or a Llama or Mistral 6 × 512 whose 8 query heads share 2 key/value heads; fewer are narrower."""
    import transformers

    common = {"vocab_size": VOCABULARY, "num_hidden_layers": max(2, round(layers * size))}
    common |= {"max_position_embeddings": LONGEST, "attn_implementation": "sdpa"}
    wide: dict[str, Any] = {"hidden_size": 64 * heads, "intermediate_size": 176 * heads}
    wide |= {"num_attention_heads": heads, "num_key_value_heads": max(1, heads // 4)}
    configs: dict[str, tuple[Any, Callable[..., Any], dict[str, Any]]] = {
        "BERT": (
            transformers.BertModel,
            transformers.BertConfig,
            {"hidden_size": 384, "intermediate_size": 1536, "num_attention_heads": 12},
        ),
        "Llama": (transformers.LlamaForCausalLM, transformers.LlamaConfig, wide),
        "Mistral": (
            transformers.MistralForCausalLM,
            transformers.MistralConfig,
            wide | {"sliding_window": at(size, 512)},
        ),
    }
    model, config, own = configs[kind]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return model(config(**common, **own)).eval()


@dataclass(frozen=True)
class Forward:
    """A model over n words, or from them on by so many new ones."""

    model: Any
    n: int
    new: int = 0

    @property
    def operations(self) -> float:
        """Of the products with weights, one multiplication and one addition for each and word."""
        weights = sum(x.numel() for x in self.model.parameters() if x.ndim == 2)
        return 2.0 * weights * (self.n + self.new)

    @property
    def ids(self) -> torch.Tensor:
        """Words, none of them PADDING: whoever generates takes that for no word, and masks it."""
        return torch.randint(PADDING + 1, VOCABULARY, (1, self.n), generator=torch.Generator().manual_seed(1))

    def run(self, model: Any = None) -> torch.Tensor:
        """→ states (1, n, width), or words (1, n + new)"""
        model = model or self.model
        with torch.no_grad():
            if not self.new:
                return model(self.ids)[0]
            return model.generate(
                self.ids, do_sample=False, min_new_tokens=self.new, max_new_tokens=self.new, pad_token_id=PADDING
            )

    def truth(self, kind: type[np.floating[Any]] = np.float64) -> np.ndarray:
        """By transformers' own code in the given type."""
        model = copy.deepcopy(self.model).to(torch.from_numpy(np.zeros(1, kind)).dtype)
        model.set_attn_implementation("eager")
        return self.run(model).numpy()


def calls(asked: Forward) -> dict[str, Call]:
    """The model with attention swapped, as it is, and through the interface."""

    def read(y: torch.Tensor) -> np.ndarray:
        return y.numpy()

    return {
        measure.OURS: Call(asked.run, read, inside=lambda: cht.swapped(asked.model)),
        measure.THEIRS: Call(asked.run, read),
        measure.THROUGH_INTERFACE: Call(asked.run, read, inside=lambda: through_interface(asked.model)),
    }


@contextlib.contextmanager
def through_interface(model: Any) -> Iterator[None]:
    import clearhead.hf  # noqa: F401, registers an attention of that name

    model.set_attn_implementation("clearhead")
    try:
        yield
    finally:
        model.set_attn_implementation("sdpa")
