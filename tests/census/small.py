"""A small model, a corpus with every mishap in it, and a census of it by a plain loop, the judge of all others."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import torch
import transformers as t
from tests.hf.models import GROUPED
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from clearhead.census.corpus import planned
from clearhead.census.identity import claimed, identity, mark
from clearhead.census.result import write_tables
from clearhead.census.rows import as_parquet
from clearhead.census.survey import Settings, plain
from clearhead.traces.command import loaded

WORDS = [
    "the", "a", "cat", "dog", "mat", "sat", "ran", "on", "under", "because", "it", "was", "tired", "3", "42", ".", ",",
    "!", "고양이", "가", "앉았다", "##s", "##ing",
]  # fmt: skip
LIMIT = 64
SHARD = 4


def model(folder: Path, seed: int = 0) -> Path:
    """A Llama of two layers and four heads with random weights, and a tokenizer of words."""
    config = t.LlamaConfig(**{**GROUPED, "max_position_embeddings": LIMIT})
    torch.manual_seed(seed)
    made = t.LlamaForCausalLM(config).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            if parameter.ndim > 1:  # as they are drawn, weights are so small that attention is all but even
                parameter.mul_(6)
    made.save_pretrained(folder)
    vocabulary = {"<unk>": 0, "<s>": 1, "</s>": 2, **{word: number + 3 for number, word in enumerate(WORDS)}}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="<unk>", max_input_chars_per_word=30))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    t.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>"
    ).save_pretrained(folder)
    return folder


def sentence(seed: int, words: int) -> str:
    """Some words, drawn so that they come back."""
    drawn = torch.randint(0, len(WORDS) - 2, (words,), generator=torch.Generator().manual_seed(seed))
    return " ".join(WORDS[int(i)] for i in drawn)


def corpus(folder: Path, good: int = 20) -> Path:
    """Documents in all three kinds of files, and among them one of everything that can go wrong."""
    lines = [json.dumps({"text": sentence(i, 9 + i)}) for i in range(good)]
    bad = ["{broken", "", json.dumps({"body": "no text"}), json.dumps({"text": 7}), json.dumps({"text": "  "})]
    long = json.dumps({"text": sentence(99, LIMIT + 1)})
    (folder / "a.jsonl").write_text("\n".join([*lines[:5], *bad, long, *lines[5:]]) + "\n", encoding="utf-8")
    texts = [sentence(50 + i, 12) for i in range(6)]
    pq.write_table(pa.table({"text": [*texts[:3], None, *texts[3:]]}), folder / "b.parquet", row_group_size=3)
    (folder / "c.parquet").write_bytes(b"PAR1 no table")
    (folder / "d").mkdir()
    (folder / "d" / "one.txt").write_text("the cat sat on the mat . 고양이 가 앉았다", encoding="utf-8")
    (folder / "d" / "two.txt").write_bytes(b"\xff\xfe\x00")
    (folder / "e.md").write_text("a")
    (folder / "picture.png").write_bytes(b"no text")
    return folder


def taken_plainly(model: Path, paths: Sequence[Path], out: Path, settings: Settings | None = None) -> Path:
    """A census by a loop in this process."""
    settings = settings or Settings(shard=SHARD)
    plan = planned(paths, size=settings.shard, field=settings.field)
    told = identity(model, plan, settings)
    claimed(out, told, resume=False)
    shards = [shard._replace(census=mark(told)) for shard in plan.shards]
    network, tokenizer = loaded(str(model), with_tokenizer=True)
    for row in plain(shards, network, tokenizer, settings):
        (out / "shards" / f"{row.shard:08}.parquet").write_bytes(as_parquet(row))
    write_tables(out)
    return out


def contents(out: Path) -> dict[str, bytes]:
    """Every file of a census, by name."""
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


@contextmanager
def ray_running() -> Iterator[str]:
    """A Ray that is started here, and is ended; its address."""
    import ray

    from clearhead.census import taking

    with taking.connected(None, processors=2):
        yield ray.get_runtime_context().gcs_address
