"""One layer of a Llama-8B: `python -m tests.census.llama_layer` measures what running it takes, and counting its heads.

The layers of a model are alike, so a whole one takes 32 times as long; weights are random, which costs the same.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace

import torch
import transformers as t

import clearhead
from clearhead.census.corpus import Document
from clearhead.census.rows import Row, as_parquet, from_parquet
from clearhead.census.survey import Settings, _add

SIZES = {
    "hidden_size": 4096, "intermediate_size": 14_336, "num_attention_heads": 32, "num_key_value_heads": 8,
    "num_hidden_layers": 1, "vocab_size": 1000,
}  # fmt: skip


class Numbers:
    """A tokenizer that reads words as the numbers that they are."""

    is_fast = False
    all_special_ids: tuple[int, ...] = ()
    backend_tokenizer = SimpleNamespace(decoder="")

    def convert_ids_to_tokens(self, ids):
        return [f"{number}" for number in ids]

    def decode(self, ids, **_):
        return "".join(f" {number}" for number in ids)


def fastest(what: Callable[[], object], times: int = 4) -> float:
    """Seconds, of the fastest of some calls."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        what()
        found.append(time.perf_counter() - start)
    return min(found)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=1024)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(argv)
    torch.set_num_threads(options.threads)
    clearhead.set_num_threads(options.threads)
    torch.set_default_dtype(torch.bfloat16)
    model = t.LlamaForCausalLM(t.LlamaConfig(**SIZES)).eval()
    ids = torch.randint(0, 1000, (1, options.tokens), generator=torch.Generator().manual_seed(1))
    text = " ".join(map(str, ids[0].tolist()))
    row = Row(0)

    def alone() -> None:
        with torch.no_grad():
            model(ids, use_cache=False)

    def counted() -> None:
        _add(row, Document(row.read, "x", 0, text), ids[0].tolist(), model, Numbers(), Settings())

    print(f"{options.tokens} tokens, {options.threads} threads")
    print(f"the layer alone {fastest(alone):.2f} s, with its heads {fastest(counted):.2f} s")
    raw = as_parquet(row)
    print(f"a row: {len(raw) / 2**10:.0f} KiB, read in {fastest(lambda: from_parquet(raw)):.3f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
