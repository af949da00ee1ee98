"""The table: what is measured, against what, and what it should reach."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Sequence

from benchmarks import accuracy, costs, looking, work
from benchmarks.cases import AccuracyCase, Case
from benchmarks.first_call import FirstCallCase
from benchmarks.models import NEW
from benchmarks.problems import Problem, at, causal_problem, draw
from benchmarks.rows import COST, EXTRA, INTERFACE, MEMORY, MICROSECONDS, MILLISECONDS, SHARE, SPEED, Goal, over
from benchmarks.situations import after_product, busy, tensors
from benchmarks.translation import TranslationCase

HEADS = {256: 8, 512: 8, 1024: 8, 2048: 8, 4096: 4, 8192: 2}  # so that a call takes 5 to 700 ms
STEPS = 200  # of training

AnyCase = Case | AccuracyCase | TranslationCase | FirstCallCase


def faster(bound: float, **others: float) -> tuple[Goal, ...]:
    """Than torch, and than others by their names."""
    return (Goal(SPEED, bound), *(Goal(over(name), least) for name, least in others.items()))


def at_most(value: str, bound: float) -> tuple[Goal, ...]:
    return (Goal(value, bound, most=True),)


LOOKING = (*faster(7), Goal(COST, 1.25, most=True), Goal(MEMORY, 1 / 50, most=True))


# The groups, in the order in which they are measured

ALONE = (
    *(
        Case(
            f"dense n={n} d={d}", "dense", "SDPA", work.dense(n, HEADS[n], d),
            (*faster(1.05, openvino=1.2), Goal(SHARE, 0.8)),
        )
        for d in (64, 128)
        for n in (512, 1024, 2048, 4096, 8192)
    ),
    Case("causal n=256", "causal", "SDPA, is_causal", work.causal(256), faster(1.6)),
    *(
        Case(
            f"causal n={n}", "causal", "SDPA, is_causal", work.causal(n, HEADS[n]),
            faster(1.6 if n <= 1024 else 1.35, openvino=1.2),
        )
        for n in (512, 1024, 2048, 4096, 8192)
    ),
    Case("causal window 256 n=8192", "masks", "SDPA, boolean mask", work.window(8192, 256, 2), faster(28)),
    Case("padded batch 16 × 1024", "masks", "SDPA, boolean mask", work.padded, faster(2)),
    Case("packed documents", "masks", "SDPA, padded batch and boolean mask", work.packed),
    Case("decode float32", "decode", "SDPA, enable_gqa", work.decode("float32"), faster(2)),
    Case("decode bfloat16", "decode", "SDPA, enable_gqa", work.decode("bfloat16"), faster(6)),
    Case("decode float16", "decode", "SDPA, enable_gqa", work.decode("float16"), faster(4)),
    Case("wide values d_v=96 n=2048", "options", "SDPA", work.plain(2048, d_v=96), faster(3.5)),
    Case("dropout 0.1 n=2048", "options", "SDPA, dropout_p", work.dropped(2048, 0.1), faster(8)),
    Case("bias array n=2048", "options", "SDPA, float mask", work.biased(2048)),
    Case("bias ALiBi n=2048", "options", "SDPA, float mask", work.alibi(2048)),
    Case("grouped heads 32/8 n=2048", "options", "SDPA, is_causal, enable_gqa", work.causal(2048, h=32, h_kv=8)),
    Case("bfloat16 n=2048", "bfloat16", "SDPA", work.plain(2048, dtype="bfloat16"), faster(2.0, openvino=1.2)),
    Case(
        "bfloat16 causal n=2048", "bfloat16", "SDPA, is_causal", work.causal(2048, dtype="bfloat16"), faster(2.3)
    ),
    Case("bfloat16 decode, own keys", "bfloat16", "SDPA", work.decode("bfloat16", 8, 8)),
    Case("small h=8 n=8", "small", "SDPA", work.plain(8), faster(0.8)),
    Case("small h=8 n=32", "small", "SDPA", work.plain(32), faster(1.2)),
    Case("small h=12 n=32", "small", "SDPA", work.plain(32, h=12), (Goal(over("onnxruntime"), 1.0),)),
    Case("small h=12 n=128", "small", "SDPA", work.plain(128, h=12), faster(1.4, onnxruntime=1.2)),
    Case("small h=12 n=512", "small", "SDPA", work.plain(512, h=12), (Goal(over("onnxruntime"), 1.2),)),
)  # fmt: skip

IN_PLACE = (
    *(Case(f"after product n={n}", "product", "SDPA", after_product(n, 10), faster(1.3)) for n in (128, 300, 512, 700)),
    Case("after product n=512 d=32", "product", "SDPA", after_product(512, 12, d=32), faster(1.3)),
    *(
        Case(
            f"after product causal n={n}", "product", "SDPA, is_causal", after_product(n, 10, causal=True), faster(1.6)
        )
        for n in (256, 512, 700, 1024)
    ),
    *(
        Case(f"busy{name} n={n}", "busy", "SDPA", build(n, h), faster(1.0), rounds=25, situation=busy, stretch=0.3)
        for name, build in (("", tensors), (" after product", after_product))
        for n, h in ((128, 12), (300, 10), (700, 10))
    ),
)


def whole(kind: str, n: int, least: float, *, generate: bool = False) -> Case:
    """A whole model in place."""
    name = f"{kind} generate" if generate else f"{kind} window 512" if kind == "Mistral" else kind
    return Case(
        f"{name} n={n}", "models", "the model on SDPA", work.model(kind, n, new=NEW * generate),
        (Goal(SPEED, least), Goal(INTERFACE, least)), needs=("transformers",),
    )  # fmt: skip


MODELS = (
    *(
        whole(kind, n, 1.0 if n <= 128 else 1.05 if n <= 1024 else 1.15, generate=generate)
        for kind, generate in (("BERT", False), ("Llama", False), ("Llama", True))
        for n in (64, 128, 256, 512, 1024, 4096)
    ),
    whole("Mistral", 4096, 2.3),
)

TRAINED = (
    *(
        Case(f"backward n={n}", "backward", "SDPA", work.backward(n, HEADS[n]), faster(1.25))
        for n in (512, 1024, 2048, 4096)
    ),
    *(
        Case(
            f"backward causal n={n}",
            "backward",
            "SDPA, is_causal",
            work.backward(n, HEADS[n], causal=True),
            faster(1.5),
        )
        for n in (512, 1024, 2048, 4096)
    ),
    *(
        Case(f"backward one head n={n}", "backward", "SDPA", work.backward(n, 1), faster(1.4))
        for n in (512, 1024, 2048, 4096)
    ),
    Case("backward bias n=2048", "backward", "SDPA, float mask", work.backward(2048, bias=True), faster(2.3)),
    Case("backward d_v=96 n=2048", "backward", "SDPA", work.backward(2048, d_v=96), faster(4)),
    Case("backward dropout 0.1 n=2048", "backward", "SDPA, dropout_p", work.backward(2048, dropout=0.1), faster(4)),
    Case("GPT step 8 × 256", "training", "SDPA, is_causal", work.training(256, 8), faster(1.1), rounds=STEPS),
    Case("GPT step 2 × 1024", "training", "SDPA, is_causal", work.training(1024, 2), faster(1.1), rounds=STEPS),
    TranslationCase(goals=faster(1.0)),
)

LOOKED_AT = (
    Case("look n=4096", "look", "eager, all weights", work.look(4096), LOOKING),
    Case("look causal n=4096", "look", "eager, all weights", work.look(4096, causal=True), LOOKING),
    Case(
        "look causal n=65536", "look", "nobody: the weights are 128 GiB", work.look(65536, causal=True, others=False),
        at_most(EXTRA, 400), rounds=1,
    ),
    *(
        Case(f"tile of {side} × {side}", "tile", "nobody", work.tile(32768, side), at_most(MILLISECONDS, 50))
        for side in (256, 1024, 4096, 16384, 32768)
    ),
    Case("tile of 8192 × 8192", "tile", "nobody", work.tile(32768, 8192)),  # computed: a page has it at hand
    *(
        Case(
            f"page tile, level {level}", "tile", "nobody", work.tile(32768, looking.PIXELS << level, tiles=True),
            at_most(MILLISECONDS, 50),
        )
        for level in range(8)
    ),
)  # fmt: skip

# Words, heads and rounds: at 32,768 words a head of a layer is 137 billion operations, so that this takes a minute.
LONG = ((8192, 8, 5), (32768, 2, 3))

TRACED = (
    Case(
        "trace Llama n=2048", "trace", "output_attentions, eager", work.trace(2048, layers=6, looked=True, others=True),
        faster(1.5), needs=("transformers",),
    ),
    *(
        Case(
            f"trace Llama n={n}, run", "trace", "nobody: the weights would be n × n",
            work.trace(n, layers=2, heads=heads, looked=False), at_most(COST, 1.5), rounds=rounds,
            needs=("transformers",),
        )
        for n, heads, rounds in LONG
    ),
    *(
        Case(
            f"trace Llama n={n}, run and views", "trace", "nobody: the weights would be n × n",
            work.trace(n, layers=2, heads=heads, looked=True), rounds=rounds, needs=("transformers",),
        )
        for n, heads, rounds in LONG
    ),
)  # fmt: skip

COSTS = (
    *(
        Case(f"cost {name}", "cost", "SDPA", build, at_most(MICROSECONDS, most), threads=1)
        for name, build, most in (
            ("of arrays", costs.arrays, 15),
            ("with a mask", costs.masked, 20),
            ("of tensors", costs.tensors(gradient=False), 25),
            ("with gradient", costs.tensors(gradient=True), 60),
            ("of the way back", costs.backward, 80),
        )
    ),
    FirstCallCase(),
)


def drawn(make: Callable[..., Problem], n: int, **shape: str) -> Callable[[float, int], Problem]:
    return lambda size, seed: make(at(size, n), h=2, seed=seed, **shape)


EXACT = (
    *(
        AccuracyCase(f"accuracy {kind} n={n}", "accuracy", drawn(make, n))
        for kind, make in (("dense", draw), ("causal", causal_problem))
        for n in (512, 2048)
    ),
    *(
        AccuracyCase(
            f"accuracy bfloat16 {kind} n=2048", "accuracy", drawn(make, 2048, dtype="bfloat16"), "SDPA in bfloat16",
            accuracy.by_torch,
        )
        for kind, make in (("dense", draw), ("causal", causal_problem))
    ),
)  # fmt: skip

CASES: tuple[AnyCase, ...] = (*ALONE, *IN_PLACE, *MODELS, *TRAINED, *LOOKED_AT, *TRACED, *COSTS, *EXACT)
MEAN_GOALS = {"dense": Goal(SPEED, 1.25)}  # for the geometric mean over a group


def select(patterns: Sequence[str], cases: Iterable[AnyCase] | None = None) -> list[AnyCase]:
    """The groups that are named, and cases whose name contains a pattern, where * and ? stand for others; or all."""
    cases = CASES if cases is None else cases
    groups = group_sizes(cases)

    def wanted(case: AnyCase, pattern: str) -> bool:
        if pattern in groups:
            return case.group == pattern
        return fnmatch.fnmatchcase(case.name.lower(), f"*{pattern}*")

    return [case for case in cases if not patterns or any(wanted(case, p.lower()) for p in patterns)]


def group_sizes(cases: Iterable[AnyCase] | None = None) -> dict[str, int]:
    groups = [case.group for case in (CASES if cases is None else cases)]
    return {group: groups.count(group) for group in groups}
