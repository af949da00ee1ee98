"""Every architecture of transformers that can be made small, by its own attention and by ours: `make architectures`.

A configuration is made of the defaults of its class, with sizes cut down by their names, and a model of random weights
of that; what cannot be made small so, or cannot be given inputs by their names, is said to be so. The others are run
once with eager attention and once with "clearhead", on a padded batch where they take tokens.

    python -m tests.hf.architectures                   # all of them, and the table in docs/
    python -m tests.hf.architectures llama t5 whisper  # some of them, printed
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import re
import signal
import textwrap
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from transformers import PreTrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_MAPPING

import clearhead.hf

TABLE = Path(__file__).parents[2] / "docs" / "transformers.md"
SECONDS = 90  # for one architecture
LARGEST = 20_000_000  # numbers in a model that is run
BATCH, TOKENS = 2, 11

# Sizes, by the names that configurations have for them. Those that are smaller already stay as they are.
SIZES = {
    ("hidden_size", "d_model", "n_embd", "embed_dim", "dim", "embedding_size", "hidden_dim", "projection_dim"): 32,
    ("encoder_hidden_size", "decoder_hidden_size", "cross_attention_hidden_size", "qk_nope_head_dim"): 32,
    ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers", "depth"): 2,
    ("num_decoder_layers", "num_encoder_layers", "encoder_num_hidden_layers", "decoder_num_hidden_layers"): 2,
    ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads", "decoder_attention_heads"): 4,
    ("num_key_value_heads", "num_kv_heads", "n_kv_heads"): 2,
    ("intermediate_size", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "d_ff", "dim_feedforward"): 48,
    ("moe_intermediate_size", "shared_expert_intermediate_size", "encoder_intermediate_size"): 24,
    ("head_dim", "d_kv", "attention_head_size", "kv_channels", "v_head_dim"): 8,
    ("q_lora_rank", "kv_lora_rank"): 16,
    ("qk_rope_head_dim",): 4,
    ("vocab_size", "decoder_vocab_size", "encoder_vocab_size", "text_vocab_size"): 99,
    ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"): 4,
    ("num_experts_per_tok", "moe_topk", "moe_k"): 2,
    ("max_position_embeddings", "n_positions", "max_sequence_length"): 128,
    ("image_size", "img_size"): 32,
    ("patch_size",): 8,
    ("sliding_window", "attention_chunk_size"): 5,
    ("num_mel_bins",): 16,
    ("max_source_positions",): 24,
    ("num_queries", "num_query_tokens"): 6,
}  # fmt: skip
SMALL = {name: size for names, size in SIZES.items() for name in names}


@dataclass
class Outcome:
    """What became of an architecture: passed, refused, failed, or a reason why it was not run."""

    name: str
    what: str
    why: str = ""
    calls: int = 0
    difference: float = 0.0


def small_config(kind: type[PreTrainedConfig]) -> PreTrainedConfig:
    """A configuration of some class: its defaults, and those of the ones inside it, with sizes cut by their names."""
    default, given = kind(), {}
    for name, value in vars(default).items():
        if isinstance(value, PreTrainedConfig):
            given[name] = small_config(type(value))
        elif type(value) is int and value > SMALL.get(name, value):
            given[name] = SMALL[name]
        elif type(value) is int and name.endswith("token_id") and value >= SMALL["vocab_size"]:
            given[name] = SMALL["vocab_size"] - 2
        elif name == "layer_types" and isinstance(value, list):  # one of each kind, if they cannot be left to the class
            given[name] = list(dict.fromkeys(value))
    if "layer_types" in given:
        given["num_hidden_layers"] = len(given["layer_types"])
    if "kv_lora_rank" in vars(default) and "num_key_value_heads" in given:
        given["num_key_value_heads"] = SMALL["num_attention_heads"]  # keys are made of one vector, for every head
    while True:
        try:
            return kind(**given)
        except TypeError as error:  # some sizes are worked out from others, and are not to be given
            wrong = [name for name in given if repr(name) in str(error)]
            if not wrong:
                raise
            del given[wrong[0]]


def inputs_of(
    model: transformers.PreTrainedModel, side: str = "right", *, pixels: bool = False
) -> dict[str, torch.Tensor] | None:
    """Inputs by their names, None if there is a name that nothing is known of."""
    generator = torch.Generator().manual_seed(5)
    config, takes = model.config, inspect.signature(model.forward).parameters
    found: dict[str, torch.Tensor] = {}
    vision = getattr(config, "vision_config", config)
    size = getattr(vision, "image_size", 32)
    height, width = size if isinstance(size, (tuple, list)) else (size, size)
    if "input_ids" in takes:
        found["input_ids"] = torch.randint(3, 90, (BATCH, TOKENS), generator=generator)
        if "attention_mask" in takes:
            found["attention_mask"] = torch.ones_like(found["input_ids"])
            real = slice(-(TOKENS // 3), None) if side == "right" else slice(TOKENS // 3)
            found["attention_mask"][0, real] = 0
    if "pixel_values" in takes and (pixels or model.main_input_name == "pixel_values"):
        channels = getattr(vision, "num_channels", 3)
        found["pixel_values"] = torch.randn(BATCH, channels, height, width, generator=generator)
    if "input_features" in takes and model.main_input_name == "input_features":
        length = 2 * getattr(config, "max_source_positions", 24)
        found["input_features"] = torch.randn(BATCH, getattr(config, "num_mel_bins", 16), length, generator=generator)
    if "input_values" in takes and model.main_input_name == "input_values":
        found["input_values"] = torch.randn(BATCH, 4000, generator=generator)
    if "decoder_input_ids" in takes:
        found["decoder_input_ids"] = torch.randint(3, 90, (BATCH, 7), generator=generator)
    main = model.main_input_name
    return found if all(name in found for name in ([main] if isinstance(main, str) else main)) else None


def tensors_of(output: Any) -> list[torch.Tensor]:
    """The tensors of floats in a model's output, in order; caches left out."""
    if isinstance(output, torch.Tensor):
        return [output] if output.is_floating_point() else []
    values = output.values() if isinstance(output, dict) else output if isinstance(output, (tuple, list)) else ()
    return [tensor for value in values for tensor in tensors_of(value)]


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TimeoutError(f"took more than {seconds} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def small_model(name: str) -> transformers.PreTrainedModel:
    config = small_config(CONFIG_MAPPING[name])
    kind = MODEL_MAPPING[type(config)]
    kind = kind[0] if isinstance(kind, (tuple, list)) else kind
    config._attn_implementation = "eager"
    with torch.device("meta"):
        size = sum(p.numel() for p in kind(config).parameters())
    if size > LARGEST:
        raise OverflowError(f"has {size / 1e6:.0f} million numbers even so")
    torch.manual_seed(3)
    return kind(config).eval()


def run(name: str) -> Outcome:
    """One architecture, by both attentions."""
    try:
        with within(SECONDS):
            model = small_model(name)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return Outcome(name, "not built", said(error))
    if not any(clearhead.hf.on_the_interface(module) for module in model.modules()):
        return Outcome(name, "not on the interface")
    expected: list[torch.Tensor] = []
    for pixels in (False, True):  # some that take tokens want an image too
        given = inputs_of(model, pixels=pixels)
        if given is None:
            return Outcome(name, "no inputs", f"{model.main_input_name} is to be given")
        try:
            with within(SECONDS), torch.no_grad():
                _seed()
                expected = tensors_of(model(**given))
        except Exception as error:
            why = said(error)
        if expected:
            break
    if not expected or given is None:
        return Outcome(name, "not run", why)
    called: Counter[int] = Counter()
    try:
        with (
            within(SECONDS),
            torch.no_grad(),
            clearhead.hf.borrowed(model, each=lambda module: called.update([id(module)])),
        ):
            _seed()
            got = tensors_of(model(**given))
    except NotImplementedError as error:
        return Outcome(name, "refused", said(error), called.total())
    except Exception as error:
        return Outcome(name, "failed", said(error), called.total())
    return compared(name, got, expected, given, called.total())


def _seed() -> None:
    torch.manual_seed(7)
    np.random.seed(7)  # noqa: NPY002 (some models draw from it)


def compared(
    name: str, got: list[torch.Tensor], expected: list[torch.Tensor], given: dict[str, torch.Tensor], calls: int
) -> Outcome:
    """The largest difference, where there is no padding, measured by the largest number of each output."""
    if not calls:
        return Outcome(name, "not called", "none of its attention arrived")
    largest = 0.0
    for a, b in zip(got, expected, strict=True):
        if a.shape != b.shape:
            return Outcome(name, "failed", f"shapes {tuple(a.shape)} and {tuple(b.shape)}", calls)
        real = given.get("attention_mask")
        if real is not None and a.shape[:2] == real.shape:
            a, b = a[real.bool()], b[real.bool()]
        if a.numel() and bool(b.isfinite().all()):
            largest = max(largest, float((a - b).abs().max() / b.abs().max().clamp(min=1e-6)))
    good = largest <= 2e-4
    return Outcome(name, "passed" if good else "failed", "" if good else f"differs by {largest:.1e}", calls, largest)


def said(error: BaseException) -> str:
    line = re.sub(r" from '[^']*'", "", str(error).partition("\n")[0])  # where a module lies is nobody's business
    return f"{type(error).__name__}: {line}"[:140]


def names_of_all() -> list[str]:
    return [name for name in CONFIG_MAPPING if CONFIG_MAPPING[name] in MODEL_MAPPING]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.hf.architectures", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="model types, such as llama; all of them unless given")
    names = parser.parse_args(arguments).names
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    outcomes = []
    for name in names or names_of_all():
        outcomes.append(run(name))
        x = outcomes[-1]
        print(f"{x.name:32} {x.what:22} {x.calls:4} {x.difference:8.1e}  {x.why}", flush=True)
    if not names:
        TABLE.write_text(written(outcomes), encoding="utf-8")


def written(outcomes: list[Outcome]) -> str:
    """The table of all architectures, as a document."""
    counts = Counter(x.what for x in outcomes)
    lines = [
        "# Every architecture of transformers, by its own attention and by ours",
        "",
        *textwrap.wrap(
            f"Made by `make architectures` with transformers {transformers.__version__}. A configuration of each "
            "architecture is made of its defaults with sizes cut down by their names, and a model of random weights is "
            "called on a padded batch, once with eager attention and once with 'clearhead'. Passed: no output differs "
            "by more than 2 · 10⁻⁴ of its largest number. What is not built, not run or has no inputs is so for "
            "reasons of this simple recipe, and says nothing of the architecture; many of those are parts or relatives "
            "of others that passed.",
            118,
        ),
        "",
        "| what | architectures |",
        "|---|---|",
        *(f"| {what} | {count} |" for what, count in counts.most_common()),
    ]
    for what in ("passed", "refused", "failed", "not called", "not on the interface"):
        found = [x for x in outcomes if x.what == what]
        if found:
            lines += ["", f"## {what[0].upper()}{what[1:]}", "", *_listed(found)]
    left = [x for x in outcomes if x.what in ("not built", "not run", "no inputs")]
    lines += ["", "## Not tried", "", "| architecture | what | why |", "|---|---|---|"]
    lines += [f"| {x.name} | {x.what} | {x.why.replace('|', chr(92) + '|')} |" for x in left]
    return "\n".join(lines) + "\n"


def _listed(found: list[Outcome]) -> list[str]:
    if all(not x.why for x in found):
        return textwrap.wrap(", ".join(x.name for x in found) + ".", 118, break_on_hyphens=False)
    return ["| architecture | why |", "|---|---|", *(f"| {x.name} | {x.why} |" for x in found)]


if __name__ == "__main__":
    main()
