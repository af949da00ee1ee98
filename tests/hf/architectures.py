"""Every architecture of transformers that can be made small, by its own attention and by ours: `make architectures`.

A configuration is made of the defaults of its class, with sizes cut down by their names (recipes.py), and a model of
random weights of that, which is given inputs by their names (feeding.py); where that cannot be done it is said. The
others are run once with eager attention and once with "clearhead", on a padded batch where they take tokens. They run
in a process beside this one, which is started anew when one of them takes it down or never ends.

    python -m tests.hf.architectures                   # all of them, and the table in docs/
    python -m tests.hf.architectures llama t5 whisper  # some of them, printed
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import textwrap
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from transformers import PreTrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_MAPPING

import clearhead.hf

from .feeding import inputs_of
from .recipes import small_config

TABLE = Path(__file__).parents[2] / "docs" / "transformers.md"
SECONDS = 90  # for one architecture
COMMAND = [sys.executable, "-W", "ignore", "-m", "tests.hf.architectures", "--beside"]
LARGEST = 150_000_000  # numbers in a model that is run


@dataclass
class Outcome:
    """What became of an architecture: passed, refused, failed, or a reason why it was not run."""

    name: str
    what: str
    why: str = ""
    calls: int = 0
    difference: float = 0.0


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
    """A model of random weights; sizes that have no default are filled in where it cannot be made without them."""
    try:
        return _made(small_config(CONFIG_MAPPING[name]))
    except OverflowError:
        raise
    except Exception:
        with contextlib.suppress(Exception):
            return _made(small_config(CONFIG_MAPPING[name], fill=True))
        raise


def _made(config: PreTrainedConfig) -> transformers.PreTrainedModel:
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
    except Exception as error:
        return Outcome(name, "not built", said(error))
    if not any(clearhead.hf.on_the_interface(module) for module in model.modules()):
        return Outcome(name, "not on the interface")
    why = ""
    with within(SECONDS), contextlib.suppress(TimeoutError):
        for given in inputs_of(model):
            try:
                expected = outputs(model, given)
            except Exception as error:
                why = why or said(error)  # what the simplest inputs are answered with
                continue
            if expected:
                return by_ours(model, name, given, expected)
    return Outcome(name, "not run" if why else "no inputs", why or f"{model.main_input_name} is to be given")


def by_ours(
    model: transformers.PreTrainedModel, name: str, given: dict[str, torch.Tensor], expected: list[torch.Tensor]
) -> Outcome:
    """What becomes of a model that its own attention can run."""
    called: Counter[int] = Counter()
    try:
        with (
            within(SECONDS),
            clearhead.hf.borrowed(model, each=lambda module: called.update([id(module)])),
        ):
            got = outputs(model, given)
    except NotImplementedError as error:
        return Outcome(name, "refused", said(error), called.total())
    except Exception as error:
        return Outcome(name, "failed", said(error), called.total())
    outcome = compared(name, got, expected, given, called.total())
    return by_sdpa(model, outcome, got, given) if outcome.difference and outcome.what == "failed" else outcome


def by_sdpa(
    model: transformers.PreTrainedModel, outcome: Outcome, got: list[torch.Tensor], given: dict[str, torch.Tensor]
) -> Outcome:
    """Judged once more where a model's own ways differ: eager adds a mask of booleans as if they were numbers."""
    try:
        model.set_attn_implementation("sdpa")
        expected = outputs(model, given)
    except Exception:
        return outcome
    again = compared(outcome.name, got, expected, given, outcome.calls)
    if again.what != "passed":
        return outcome
    return replace(again, what="passed as sdpa", why=f"its eager attention {outcome.why}, from its sdpa too")


def outputs(model: transformers.PreTrainedModel, given: dict[str, torch.Tensor]) -> list[torch.Tensor]:
    with torch.no_grad():
        _seed()
        return tensors_of(model(**given))


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


class Beside:
    """A process that runs architectures one by one, and is replaced when it dies or does not answer."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def run(self, name: str) -> Outcome:
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(f"{name}\n")
            self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], 4 * SECONDS)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            self.close()
            return Outcome(name, "not run", "takes its process down" if ready else f"takes more than {4 * SECONDS} s")
        return Outcome(**json.loads(line))

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            with contextlib.suppress(BrokenPipeError):  # a name that nobody read
                self.process.communicate()
            self.process = None


def answer() -> None:
    """What runs in that process: a name comes in, an outcome goes out."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # models print, and nothing but answers may arrive
    for line in sys.stdin:
        print(json.dumps(asdict(run(line.strip()))), file=answers, flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.hf.architectures", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="model types, such as llama; all of them unless given")
    parser.add_argument("--beside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    if options.beside:
        answer()
        return
    beside, outcomes = Beside(), []
    for name in options.names or names_of_all():
        x = beside.run(name)
        outcomes.append(x)
        print(f"{x.name:32} {x.what:22} {x.calls:4} {x.difference:8.1e}  {x.why}", flush=True)
    beside.close()
    if not options.names:
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
            "by more than 2 · 10⁻⁴ of its largest number. Passed as sdpa: so with its sdpa attention, from which its "
            "eager attention differs as well. What is not built, not run or has no inputs is so for "
            "reasons of this simple recipe, and says nothing of the architecture; many of those are parts or relatives "
            "of others that passed.",
            118,
        ),
        "",
        "| what | architectures |",
        "|---|---|",
        *(f"| {what} | {count} |" for what, count in counts.most_common()),
    ]
    for what in ("passed", "passed as sdpa", "refused", "failed", "not called", "not on the interface"):
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
