"""The table of everything attention can be asked for.

A row is one call: shapes, types, memory layout and options. `ROWS` holds at least one for every option, mask, bias,
type and layout there is; `test_equivalence.py` fails if one is missing, and runs them all. What a row asks is written
as text, the way a user would type it, so that a failing row, drawn or chosen, can be pasted and run.

    for row in ROWS:
        problem = build(row)  # in problems.py
        judge(problem).check(attention(*problem.arrays, **problem.options))  # in judge.py
"""

from __future__ import annotations

from .layouts import LAYOUTS
from .problems import TYPES, row

# For layouts that repeat a value again and again: the errors of a long sum of one number all point one way, unless it
# is a small integer.
ROUND_VALUES = "v[...] = np.round(v)"

SMALL = (2, 3, 37, 17)  # b, h, n_q, d: one panel and a part of one, against a part of a block
TILES = (2, 3, 131, 17)  # several panels

SHAPES = [
    row(f"{n_q} × {n_k}, {dtype}", (2, 3, n_q, 17), n_k, 19, dtype=dtype)
    for dtype in ("float32", "float64")
    for n_q, n_k in (
        (1, 1), (1, 7), (2, 191), (3, 192), (5, 193), (13, 29), (15, 3), (16, 16), (17, 389), (31, 101), (32, 32),
        (33, 577), (47, 1), (63, 61), (64, 64), (65, 67), (97, 193), (127, 2), (131, 389), (257, 13),
        (0, 7), (7, 0), (0, 0),
    )
]  # fmt: skip

WIDTHS = [
    row(f"d {d}, d_v {d_v}, {dtype}", (3, 37, d), 131, d_v, dtype=dtype)
    for dtype, widths in {
        "float32": (
            (1, 1), (1, 17), (2, 3), (3, 1), (5, 4), (7, 16), (15, 14), (16, 16), (17, 15), (31, 33), (48, 47),
            (64, 64), (65, 63), (80, 96), (127, 128), (192, 128), (257, 31), (1, 512), (511, 509), (512, 512), (512, 1),
        ),
        "float64": ((1, 1), (3, 7), (8, 8), (9, 5), (64, 64), (67, 61), (128, 127), (512, 512)),
        "float16": ((1, 1), (7, 5), (33, 17), (64, 64), (128, 512)),
        "bfloat16": ((1, 1), (7, 5), (33, 17), (64, 64), (512, 128)),
    }.items()
    for d, d_v in widths
]  # fmt: skip

LEADING = [
    row("no heads", (37, 17), 211, 19),
    row("no heads, causal", (131, 17), 211, 19, mask="causal()"),
    row("heads only", (5, 37, 17), 211, 19),
    row("two batch axes", (2, 3, 5, 7, 11), 13, 17),
    row("two batch axes, causal", (2, 3, 5, 37, 11), 41, 17, mask="causal()"),
    row("five batch axes", (2, 1, 3, 1, 2, 3, 7, 11), 13, 17, mask="causal()"),
    row("seven batch axes", (2, 1, 1, 1, 3, 1, 2, 3, 7, 11), 13, 17, mask="causal()"),
    row(
        "seven batch axes that meet",
        (2, 1, 1, 3, 1, 1, 2, 3, 7, 11),
        13,
        17,
        kv=(1, 3, 1, 1, 1, 2, 1, 3),
        bias="alibi(3)",
        mask="causal() & array(flags(.7, 2, 1, 1, 1, 13)) & where(lambda b, h, i, j: (b + i + j) % 5 > 0)",
    ),
    row(
        "eight batch axes, lengths, bias",
        (1, 2, 1, 1, 3, 1, 2, 1, 3, 7, 11),
        13,
        17,
        bias="draw(2, 1, 3, 1, 13)",
        mask="key_lengths([[[[3]]], [[[8]]], [[[13]]]])",
        dropout=0.3,
        seed=1,
    ),
    row("keys for every batch", (5, 3, 7, 11), 13, 17, kv=(1, 3), mask="causal()"),
    row("keys without batch", (5, 3, 7, 11), 13, 17, kv=(3,), mask="causal()"),
    row("queries without batch", (3, 7, 11), 13, 17, kv=(5, 3), mask="causal()"),
    row("batches that meet", (5, 1, 3, 7, 11), 13, 17, kv=(1, 2, 3), mask="key_lengths([[3, 9]])"),
    row("values of their own batch", (3, 7, 11), 13, 17, kv=(3,), values=(2, 3)),
    row("no heads in keys", (5, 3, 7, 11), 13, 17, kv=()),
    row("no heads in queries", (7, 11), 13, 17, kv=(5, 3)),
    row("one query head for many", (2, 1, 7, 11), 13, 17, kv=(2, 3)),
    row("one key head, many of values", (2, 3, 7, 11), 13, 17, kv=(2, 1), values=(2, 3)),
    row("many key heads, one of values", (2, 3, 7, 11), 13, 17, kv=(2, 3), values=(2, 1)),
    row("no batch entries", (0, 3, 7, 11), 13, 17, mask="causal()"),
    row("no heads at all", (2, 0, 7, 11), 13, 17),
]

GROUPED = [
    row(f"groups of {heads // kv}, {n_q} queries, {dtype}", (2, heads, n_q, 17), 211, 19, kv=(2, kv), dtype=dtype)
    for dtype in ("float32", "float64")
    for heads, kv, n_q in ((6, 2, 1), (12, 3, 5), (7, 1, 13), (6, 3, 31), (4, 2, 67), (6, 2, 131))
] + [
    row(f"groups, {name}, {n_q} queries", (2, 6, n_q, 17), 211, 19, kv=(2, 2), **options)
    for n_q in (5, 71)
    for name, options in {
        "causal": {"mask": "causal()"},
        "window and lengths": {"mask": "window(29) & key_lengths([150, 7])"},
        "array per head": {"mask": "flags(.6, 2, 6, 1, 211)"},
        "bias per head": {"bias": "draw(6, 1, 211)"},
        "alibi": {"bias": "alibi(6)", "mask": "causal()"},
        "sinks": {"sinks": "draw(6)"},
        "dropout": {"dropout": 0.4, "seed": 3},
        "any rule": {"mask": "where(lambda b, h, i, j: (i + j + h) % 3 != b)"},
        "bfloat16": {"dtype": "bfloat16", "mask": "causal()"},
        "heads inside": {"layout": "heads inside", "mask": "causal()"},
    }.items()
]

SPLIT = [
    row("split keys, no heads", (5, 17), 2003, 19),
    row("split keys, one query", (1, 1, 17), 5003, 19),
    row("split keys, folded", (2, 6, 1, 17), 3001, 19, kv=(2, 2)),
    row("split keys, float64", (2, 3, 17), 2503, 19, dtype="float64"),
    row("split keys, float16", (2, 6, 3, 17), 2503, 19, kv=(2, 2), dtype="float16"),
    row("split keys, bfloat16", (1, 6, 1, 17), 4001, 19, kv=(1, 2), dtype="bfloat16"),
    row("split keys, causal", (2, 29, 17), 2503, 19, mask="causal()"),
    row("split keys, a window in one part", (2, 3, 17), 2503, 19, mask="window(31)"),
    row("split keys, empty parts", (2, 3, 17), 5003, 19, mask="~prefix(4900) | prefix(3)"),
    row("split keys, no key left", (2, 3, 17), 2503, 19, mask="prefix(0)"),
    row("split keys, sinks", (3, 2, 17), 2503, 19, sinks="np.array([2.0, -inf, -1.0])"),
    row("split keys, array", (2, 3, 17), 2503, 19, mask="flags(.5, 3, 2503)"),
    row("split keys, any rule", (2, 3, 17), 2503, 19, mask="where(lambda b, h, i, j: (i + j) % 5 != h)"),
    row("parts that some queries do not see", (1, 600, 17), 600, 19, mask="causal()"),
    row("parts that some queries do not see, bfloat16", (1, 600, 17), 600, 19, mask="causal()", dtype="bfloat16"),
    row("parts and a bias for all heads", (2, 3, 37, 17), 701, 19, bias="draw(37, 701)"),
    row("parts and a bias for each head", (1, 37, 17), 701, 19, bias="draw(1, 37, 701)"),
    row("split keys, bias", (2, 3, 17), 2503, 19, bias="draw(2, 1, 2503)"),
    row("split keys, alibi", (2, 3, 17), 2503, 19, bias="alibi([0.01, 0.003])"),
    row("split keys, softcap", (2, 3, 17), 2503, 19, softcap=2.5),
    row("split keys, dropout", (2, 3, 17), 2503, 19, dropout=0.25, seed=11),
    row("split keys, NaN out of sight", (2, 3, 17), 2503, 19, spoil="v[:, 2000:] = nan", mask="prefix(2000)"),
    row("split keys, NaN in sight", (2, 3, 17), 2503, 19, spoil="v[0, 2000, 3] = nan; k[1, 5] = nan"),
    row("split keys, NaN in sight of one head", (2, 3, 17), 2503, 19, spoil="v[0, 2000, 3] = nan"),
]

# A handful of queries whose widths fill vectors: the products in thin.py.
THIN = [
    row(f"thin, {heads} heads on {kv}, {n_q} queries, d {d}, d_v {d_v}, {dtype}", (2, heads, n_q, d), n_k, d_v,
        kv=(2, kv), dtype=dtype)
    for dtype in ("float32", "float64", "bfloat16")
    for heads, kv, n_q, d, d_v, n_k in (
        (1, 1, 1, 16, 16, 1), (4, 1, 1, 64, 64, 193), (6, 2, 1, 64, 48, 211), (5, 1, 1, 32, 64, 389),
        (8, 1, 1, 128, 16, 577), (3, 3, 8, 64, 128, 67), (2, 1, 4, 80, 96, 191), (3, 1, 3, 64, 64, 7),
    )
] + [
    row(f"thin, {name}", (2, 6, n_q, 64), n_k, 64, kv=(2, 2), **options)
    for n_q, n_k in ((1, 211), (2, 2503))
    for name, options in {
        f"causal, {n_k} keys": {"mask": "causal()"},
        f"window and lengths, {n_k} keys": {"mask": "window(29) & key_lengths([150, 7])"},
        f"no key left, {n_k} keys": {"mask": "prefix(0)"},
        f"array per head, {n_k} keys": {"mask": f"flags(.6, 2, 6, 1, {n_k})"},
        f"bias per head, {n_k} keys": {"bias": f"draw(6, 1, {n_k})"},
        f"alibi, {n_k} keys": {"bias": "alibi(6)", "mask": "causal()"},
        f"softcap, sinks, {n_k} keys": {"softcap": 2.5, "sinks": "draw(6)"},
        f"dropout, {n_k} keys": {"dropout": 0.4, "seed": 3},
        f"heads inside, {n_k} keys": {"layout": "heads inside", "mask": "causal()"},
        f"NaN out of sight, {n_k} keys": {"spoil": "v[..., 200:, :] = nan", "mask": "prefix(200)"},
        f"NaN in sight, {n_k} keys": {"spoil": "v[0, 1, 100, 3] = nan; k[1, 0, 5] = nan"},
    }.items()
]  # fmt: skip

# All that is bfloat16: where the processor multiplies pairs of them, the products in pairs.py, and in thin.py.
PAIRS = [
    row(f"pairs, {n_q} × {n_k}, d {d}, d_v {d_v}", (2, 3, n_q, d), n_k, d_v, dtype="bfloat16")
    for n_q, n_k, d, d_v in (
        (1, 1, 64, 64), (1, 193, 64, 64), (5, 2, 1, 1), (9, 191, 31, 33), (16, 192, 32, 30), (17, 389, 64, 80),
        (33, 577, 65, 64), (63, 3, 64, 63), (64, 192, 128, 128), (65, 193, 127, 16), (131, 389, 48, 47), (0, 7, 5, 3),
        (7, 0, 5, 3),
    )
] + [
    row(f"pairs, {name}, {n_q} queries", (2, 6, n_q, 64), n_k, 64, kv=(2, 2), dtype="bfloat16", **options)
    for n_q, n_k in ((1, 389), (71, 391))
    for name, options in {
        "causal": {"mask": "causal()"},
        "no key left": {"mask": "prefix(0)"},
        "array per head": {"mask": f"flags(.6, 2, 6, 1, {n_k})"},
        "a rule": {"mask": "where(lambda b, h, i, j: (i + j + h) % 3 != b)"},
        "alibi": {"bias": "alibi(6)", "mask": "causal()"},
        "softcap, sinks": {"softcap": 2.5, "sinks": "draw(6)"},
        "scale negative": {"scale": -0.3},
        "dropout": {"dropout": 0.4, "seed": 3},
        "every third column": {"layout": "every third column", "mask": "causal()"},
        "inside a cache": {"layout": "inside a cache", "mask": "causal()"},
        "NaN out of sight": {"spoil": "v[..., 200:, :] = nan; k[..., 200:, :] = nan", "mask": "prefix(200)"},
        "NaN in sight of some": {"spoil": "v[0, 0, 380, 3] = nan; v[0, 1, 382, 5] = -inf; k[0, 1, 385] = nan",
                                 "mask": "causal()"},
        "NaN in sight, dropout": {"spoil": "v[0, 1, 100, 3] = nan", "dropout": 0.2, "seed": 4},
        "inf in a key": {"spoil": "q[..., 0] = 1; k[..., 5, 0] = -inf; k[..., 7, 0] = inf", "softcap": 3.0},
        "NaN in a query": {"spoil": "q[0, 1, 0, 2] = nan", "mask": "causal()"},
        "everything": {"mask": "causal() & window(150) & key_lengths([389, 200])", "bias": "alibi(6)", "scale": 0.4,
                       "softcap": 5.0, "sinks": "draw(6)", "dropout": 0.2, "seed": 9},
    }.items()
] + [
    row(f"pairs, split keys, {name}", (2, n_q, d), n_k, d_v, dtype="bfloat16", **options)
    for name, n_q, n_k, d, d_v, options in (
        ("odd width", 3, 2503, 17, 19, {"mask": "window(2400)"}),
        ("thin", 3, 2503, 64, 64, {"dropout": 0.3, "seed": 2}),
        ("NaN in sight", 1, 2503, 64, 64, {"spoil": "v[0, 2000, 3] = nan; v[0, 2100, 5] = inf"}),
    )
]  # fmt: skip

MASKS = [
    row(f"mask {text}", TILES, 211, 19, mask=text)
    for text in (
        "causal()", "causal(offset=0)", "causal(offset=-5)", "causal(offset=-131)", "causal(offset=300)", "~causal()",
        "window(1)", "window(29)", "window(500)", "window(7, 3)", "window(0, 0)", "window(90, 100)",
        "window(5, offset=2)", "window(5, 9, offset=-70)", "~window(29)",
        "key_lengths([150, 7])", "key_lengths([0, 300])", "key_lengths([211, 1])", "key_lengths(100)",
        "prefix(0)", "prefix(61)", "~prefix(61)", "prefix(1000)",
        "documents(np.arange(211) // 37)", "documents(boundaries=[0, 50, 50, 51, 211])",
        "documents(np.stack([np.arange(211) // 61, np.arange(211) // 7]))", "documents(np.arange(211) % 5)",
        "dilated(1)", "dilated(4)", "dilated(7) & window(64)", "dilated(3) & causal()",
        "block_sparse(flags(.5, 5, 7), 32)", "block_sparse(flags(.5, 3, 5, 7), 32)",
        "block_sparse(flags(.5, 2, 1, 5, 7), 32)", "block_sparse(flags(.5, 14, 22), 10)",
        "block_sparse(flags(0, 5, 7), 32)",
        "array(flags(.5, 131, 211))", "array(flags(.5, 2, 3, 131, 211))", "array(flags(.5, 2, 1, 1, 211))",
        "array(flags(.5, 131, 1))", "array(flags(.5, 211))", "array(flags(.5, 3, 1, 1))", "array(np.bool_(False))",
        "array(np.arange(211) > 191)", "array(np.tri(131, 211, dtype=bool))",
        "array(np.arange(27641).reshape(131, 211) != 20_000)", "array(np.arange(27641).reshape(131, 211) == 20_000)",
        "where(lambda b, h, i, j: (i + 2 * j + h) % 3 != b)", "where(lambda b, h, i, j: j <= i)",
        "where(lambda b, h, i, j: np.bool_(False))",
        "causal() & window(29)", "causal() | prefix(10)", "causal() & documents(np.arange(211) // 37)",
        "causal() & key_lengths([150, 7])", "window(29) | key_lengths([10, 20])", "~(causal() & window(29))",
        "~(causal() | prefix(10))", "(window(9) | prefix(3)) & ~window(2)",
        "causal() & array(flags(.7, 2, 1, 131, 211))", "array(flags(.7, 131, 211)) & array(flags(.7, 3, 1, 211))",
        "array(flags(.3, 131, 211)) | window(5)", "~array(flags(.3, 131, 211))",
        "causal() & where(lambda b, h, i, j: (i * j) % 7 != 3) & array(flags(.8, 1, 211))",
        "causal() & block_sparse(flags(.5, 5, 7), 32)",
        "window(9) | block_sparse(flags(.5, 3, 5, 7), 32) & key_lengths([150, 7])",
    )
] + [
    row(f"mask {text}, float64", TILES, 211, 19, dtype="float64", mask=text)
    for text in ("causal()", "causal() & window(29) | prefix(3)", "flags(.5, 2, 3, 131, 211)", "dilated(3)")
] + [
    row(f"boolean mask {'×'.join(map(str, shape))}", SMALL, 211, 19, mask=f"flags(.5, {', '.join(map(str, shape))})")
    for shape in (
        (2, 3, 37, 211), (1, 3, 37, 211), (2, 1, 37, 211), (37, 211), (1, 211), (37, 1), (211,), (2, 1, 1, 211),
    )
] + [
    row("two queries, one key apart", (2, 3, 2, 17), 389, 19, mask="window(300)"),
    row("more queries than keys", (2, 3, 131, 17), 37, 19, mask="causal()"),
    row("more queries than keys, window", (2, 3, 131, 17), 37, 19, mask="window(3, 2)"),
    row("more queries than keys, offset", (2, 3, 131, 17), 37, 19, mask="causal(offset=0) | prefix(2)"),
    row("nine hundred queries by a rule", (1, 2, 907, 5), 61, 3, mask="(dilated(3) | prefix(1)) & causal(offset=0)"),
    row("a rule, alibi, dropout, in strips", (1, 2, 701, 5), 97, 3, mask="dilated(2) | prefix(1)", bias="alibi(2)",
        dropout=0.1, seed=5),
    row("a rule, an array and a bias in strips", (2, 2, 307, 5), 97, 3, bias="draw(2, 307, 97)",
        mask="(dilated(2) | prefix(1)) & array(flags(.7, 307, 97)) & causal()"),
    row("a rule and sinks, half precision", (2, 2, 307, 5), 97, 3, mask="~dilated(5)", sinks="draw(2)",
        dtype="float16"),
    row("few queries, every third key", (2, 6, 3, 32), 1601, kv=(2, 2), mask="dilated(3) & causal()"),
    row("every fifth key, by strips of a rule", (2, 2, 307, 5), 97, 3, mask="dilated(5) & ~dilated(2)"),
    row("every other key, all options", (2, 4, 701, 5), 97, 3, kv=(2, 2), mask="dilated(2) & window(40)", softcap=2.0,
        bias="alibi(4)", sinks="draw(4)", dropout=0.1, seed=5),
]  # fmt: skip

BIASES = [
    row(f"bias {text}{', ' + dtype if dtype != 'float32' else ''}", TILES, 211, 19, dtype=dtype, bias=text)
    for dtype, texts in {
        "float32": (
            "draw(2, 3, 131, 211)", "draw(2, 3, 131, 211).astype(np.float32)", "draw(3, 131, 211)",
            "draw(2, 1, 131, 211)", "draw(131, 211).astype(np.float32)",
            "draw(1, 211)", "draw(131, 1)", "draw(3, 1, 1)", "draw(2, 1, 1, 211)",
            "draw(211)", "draw(1, 1)", "np.float32(3.5)", "draw(131, 211).astype(np.float16)", "draw(211, 131).T",
            "draw(131, 422)[:, ::2]", "draw(131, 211)[::-1, ::-1]", "draw(131, 211).astype('>f8')",
            "np.where(flags(.7, 131, 211), draw(131, 211), -inf)", "np.where(flags(.5, 2, 3, 1, 211), 0.0, -inf)",
            "np.full((131, 211), -1e30)", "np.full((131, 211), -1e300)",
            "np.full((131, 211), np.finfo(np.float32).min)", "np.full((131, 1), 1e4)",
            "alibi(3)", "alibi([1.0, 0.25, 0.0])", "alibi(3, offset=0)", "alibi(3, offset=-40)",
            "t5(draw(32, 3))", "t5(draw(12, 3), bidirectional=False)", "t5(draw(8, 3), max_distance=20, offset=7)",
            "t5(draw(32, 3).astype(np.float32))",
        ),
        "float64": ("draw(2, 3, 131, 211)", "draw(131, 211).astype(np.float32)", "alibi(3)", "t5(draw(32, 3))"),
        "bfloat16": ("draw(131, 211)", "alibi(3)", "np.where(flags(.7, 131, 211), draw(131, 211), -inf)"),
        "float16": ("draw(131, 211)", "t5(draw(32, 3))", "draw(131, 211).astype(np.float16)"),
    }.items()
    for text in texts
] + [
    row(f"bias {bias} with mask {mask}", TILES, 211, 19, bias=bias, mask=mask)
    for bias in ("alibi(3)", "draw(3, 1, 211)")
    for mask in ("causal()", "window(29) & causal(offset=3)", "flags(.5, 131, 211)", "dilated(3)",
                 "causal() & array(flags(.5, 2, 1, 131, 211))", "key_lengths([0, 100])")
] + [
    row("float mask", SMALL, 211, 19, mask="draw(2, 1, 37, 211)"),
    row("float mask of −inf", SMALL, 211, 19, mask="np.where(flags(.6, 37, 211), 0, -inf)"),
    row("float mask, rows of −inf", SMALL, 211, 19, mask="np.where(flags(.6, 37, 1), draw(37, 211), -inf)"),
    row("float mask of the least number", SMALL, 211, 19, mask="np.full((37, 211), np.finfo(np.float32).min)"),
    row("float mask of the least float16", SMALL, 211, 19, dtype="float16",
        mask="np.where(flags(.6, 37, 211), 0, np.finfo(np.float16).min).astype(np.float16)"),
    row("float mask and bias", SMALL, 211, 19, mask="np.where(flags(.6, 37, 211), 0, -inf)", bias="draw(3, 37, 211)"),
    row("float mask and −inf bias", SMALL, 211, 19, mask="draw(211)", bias="np.where(flags(.6, 37, 211), 0, -inf)"),
    row("float mask and alibi", SMALL, 211, 19, mask="np.where(flags(.6, 2, 1, 1, 211), 0, -inf)", bias="alibi(3)"),
    row("least number twice", SMALL, 211, 19, mask="np.full((37, 211), np.finfo(np.float32).min)",
        bias="np.full((37, 211), np.finfo(np.float32).min)"),
    row("alibi for one head", (37, 17), 211, 19, bias="alibi([0.5])"),
    row("one slope for all heads", SMALL, 211, 19, bias="alibi([0.5])"),
    row("alibi, one query", (2, 3, 1, 17), 389, 19, bias="alibi(3)", mask="causal()"),
    row("alibi, more queries than keys", (2, 3, 131, 17), 37, 19, bias="alibi(3)", mask="causal(offset=0)"),
]  # fmt: skip

OPTIONS = [
    row("scale 0", SMALL, 211, 19, scale=0.0),
    row("scale 0, causal", TILES, 211, 19, scale=0.0, mask="causal()"),
    row("scale negative", SMALL, 211, 19, scale=-0.3),
    row("scale negative, softcap, bias", SMALL, 211, 19, scale=-0.3, softcap=1.7, bias="draw(37, 211)"),
    row("scale 1", SMALL, 211, 19, scale=1.0),
    row("scale large: one winner", SMALL, 211, 19, scale=40.0),
    row("scale tiny", SMALL, 211, 19, scale=1e-30),
    row("scale 0, float64", SMALL, 211, 19, scale=0.0, dtype="float64"),
    row("softcap 0.5", SMALL, 211, 19, softcap=0.5),
    row("softcap 30", SMALL, 211, 19, softcap=30.0),
    row("softcap 1e-3", SMALL, 211, 19, softcap=1e-3),
    row("softcap 1e6", SMALL, 211, 19, softcap=1e6),
    row("softcap, steep", SMALL, 211, 19, softcap=20.0, scale=30.0),
    row("softcap, causal, bias, sinks", TILES, 211, 19, softcap=2.0, mask="causal()", bias="draw(3, 1, 211)",
        sinks="draw(3)"),
    row("softcap, float64", SMALL, 211, 19, softcap=2.0, scale=1.0, dtype="float64"),
    row("softcap, half", SMALL, 211, 19, softcap=2.0, dtype="bfloat16"),
    row("sinks", SMALL, 211, 19, sinks="draw(3)"),
    row("sinks of −inf", SMALL, 211, 19, sinks="np.array([-inf, 0.5, -inf])"),
    row("sinks, one for all", SMALL, 211, 19, sinks="np.array([1.5])"),
    row("sinks, a number", SMALL, 211, 19, sinks=0.7),
    row("sinks without heads", (37, 17), 211, 19, sinks=0.7),
    row("sinks above everything", SMALL, 211, 19, sinks="np.array([30.0, 88.0, 200.0])"),
    row("sinks, no key left", SMALL, 211, 19, sinks="np.array([0.5, -inf, 3.0])", mask="prefix(0)"),
    row("sinks, no key at all", SMALL, 0, 19, sinks="np.array([0.5, -inf, 3.0])"),
    row("sinks, float64", SMALL, 211, 19, sinks="draw(3)", dtype="float64"),
    row("sinks in half precision", SMALL, 211, 19, sinks="draw(3).astype(np.float16)", dtype="float16"),
    row("dropout", SMALL, 211, 19, dropout=0.3, seed=0),
    row("dropout, causal, tiles", TILES, 389, 19, dropout=0.5, seed=2**64 - 1, mask="causal()"),
    row("dropout, any seed", SMALL, 211, 19, dropout=0.1, seed=2**70 + 3),
    row("dropout of hardly any", SMALL, 211, 19, dropout=1e-12, seed=1),
    row("dropout of nearly all", SMALL, 211, 19, dropout=0.999, seed=1),
    row("dropout of all there are", SMALL, 211, 19, dropout=1 - 2.0**-40, seed=1),
    row("dropout 0", SMALL, 211, 19, dropout=0.0),
    row("dropout, float64", SMALL, 211, 19, dropout=0.3, seed=7, dtype="float64"),
    row("dropout, half, sinks", SMALL, 211, 19, dropout=0.3, seed=7, dtype="float16", sinks="draw(3)"),
    row("dropout, two batch axes", (2, 3, 2, 37, 17), 41, 19, dropout=0.3, seed=7),
    row("dropout, no heads", (37, 17), 41, 19, dropout=0.3, seed=7),
    row("strict", SMALL, 211, 19, strict=True, mask="causal()"),
    row("lse", SMALL, 211, 19, return_lse=True),
    row("everything", (2, 6, 71, 17), 389, 19, kv=(2, 2), mask="causal() & window(150) & key_lengths([389, 200])",
        bias="alibi(6)", scale=0.4, softcap=5.0, sinks="draw(6)", dropout=0.2, seed=9),
    row("everything, by an array and a rule", (2, 6, 71, 17), 389, 19, kv=(2, 2),
        mask="array(flags(.8, 71, 389)) & ~dilated(2)", bias="draw(2, 1, 71, 389)", scale=-0.4, softcap=5.0,
        sinks="draw(6)", dropout=0.2, seed=9),
]  # fmt: skip

STRANGE = [
    row("NaN in masked keys", SMALL, 211, 19, spoil="k[..., 100:, :] = nan", mask="prefix(100)"),
    row("NaN in masked values", SMALL, 211, 19, spoil="v[..., 100:, :] = nan", mask="prefix(100)"),
    row("inf in masked keys", TILES, 211, 19, spoil="k[..., 150:, :] = inf; k[..., 160, :] = -inf",
        mask="causal(offset=20)"),
    row("inf in masked values", TILES, 211, 19, spoil="v[..., 150:, :] = inf; v[..., 160, :] = -inf",
        mask="causal(offset=20)"),
    row("NaN masked by an array", SMALL, 211, 19, spoil="k[..., ::2, :] = v[..., ::2, :] = nan",
        mask="array(np.arange(211) % 2 == 1)"),
    row("NaN masked by −inf", SMALL, 211, 19, spoil="k[..., ::2, :] = v[..., ::2, :] = nan",
        bias="np.where(np.arange(211) % 2 == 1, 0, -inf)"),
    row("NaN masked by a float mask", SMALL, 211, 19, spoil="k[..., ::2, :] = v[..., ::2, :] = nan",
        mask="np.where(np.arange(211) % 2 == 1, 0, -inf)", softcap=3.0),
    row("NaN masked by a rule", SMALL, 211, 19, spoil="k[..., ::2, :] = v[..., ::2, :] = nan",
        mask="where(lambda b, h, i, j: j % 2 == 1)"),
    row("NaN masked for some", SMALL, 211, 19, spoil="v[..., 200, 3] = nan; v[..., 203, 5] = inf", mask="causal()"),
    row("NaN masked for some, float64", SMALL, 211, 19, spoil="v[..., 200, 3] = nan; v[..., 203, 5] = inf",
        mask="causal()", dtype="float64"),
    row("NaN masked for some, half", SMALL, 211, 19, spoil="v[..., 200, 3] = nan; v[..., 203, 5] = inf",
        mask="causal()", dtype="bfloat16"),
    row("NaN masked for some, columns apart", SMALL, 211, 19, layout="every third column", mask="causal()",
        spoil="v[..., 200, 3] = nan; v[..., 203, 5] = inf"),
    row("NaN masked for some, dropout", SMALL, 211, 19, spoil="v[..., 200, 3] = nan", mask="causal()", dropout=0.3,
        seed=1),
    row("NaN in a key in sight", SMALL, 211, 19, spoil="k[0, 1, 5, 2] = nan"),
    row("NaN in a key in sight of some", SMALL, 211, 19, spoil="k[..., 180, 2] = nan", mask="causal()"),
    row("NaN in a key beside a bias", SMALL, 211, 19, spoil="k[..., 180, 2] = nan",
        bias="np.where(flags(.8, 211), draw(211), -inf)"),
    row("−inf by itself", SMALL, 211, 19, spoil="k[..., 2::7, :1] = inf", mask="causal()"),
    row("−inf by itself beside NaN", SMALL, 211, 19, spoil="k[..., 2::7, 0] = inf; k[..., 3::7, 1] = inf",
        mask="array(flags(.5, 211))"),
    row("NaN in a query", SMALL, 211, 19, spoil="q[0, 1, 5, 2] = nan", mask="causal()"),
    row("NaN in a query with no key left", SMALL, 211, 19, spoil="q[0] = nan", mask="key_lengths([0, 5])"),
    row("NaN in a value in sight", SMALL, 211, 19, spoil="v[0, 1, 5, 2] = nan; v[1, 2, 7] = inf; v[1, 2, 8, 4] = -inf"),
    row("inf in a key in sight", SMALL, 211, 19, spoil="k[0, 1, 5, 2] = inf"),
    row("−inf key in sight of all", (3, 5, 11), 23, 7, spoil="q[..., 0] = 1; k[..., 5, 0] = -inf"),
    row("−inf key with a NaN value", (3, 5, 11), 23, 7, spoil="q[..., 0] = 1; k[..., 5, 0] = -inf; v[..., 5, 2] = nan"),
    *(
        row(f"−inf key with a NaN value, {name}", (3, 37, 11), 23, 7, **options,
            spoil="q[..., 0] = 1; k[..., 5, 0] = -inf; v[..., 5, 2] = nan")
        for name, options in {
            "bias": {"bias": "draw(37, 23)"}, "relative bias": {"bias": "alibi(3)"},
            "flags": {"mask": "flags(.7, 37, 23)"}, "largest bias": {"bias": "np.full((37, 23), np.finfo('f').max)"},
        }.items()
    ),
    row("the only key scores −inf", (3, 37, 11), 23, 7, mask="flags(.1, 37, 23)",
        spoil="q[..., 0] = 1; k[..., 5, 0] = -inf"),
    row("NaN query under causal", (3, 37, 11), 23, 7, spoil="q[..., 5, 0] = nan", mask="causal()"),
    row("NaN query with a sink alone", (3, 37, 11), 23, 7, spoil="q[..., 2, 0] = nan",
        mask="causal(offset=-5)", sinks="np.array([0.5, -inf, 3.0])"),
    row("inf key, softcap", (3, 37, 11), 23, 7, spoil="q[..., 0] = 1; k[..., 5, 0] = inf", softcap=3.0),
    row("inf key, negative scale", (3, 37, 11), 23, 7, spoil="q[..., 0] = 1; k[..., 5, 0] = inf", scale=-0.3),
    row("values at the end of the range", SMALL, 211, 19, spoil="v[..., 7, :] = 3e38; v[..., 8, :] = -3e38"),
    row("NaN with grouped heads", (2, 6, 5, 17), 211, 19, kv=(2, 2), spoil="v[..., 208, 3] = nan; k[..., 210, :] = nan",
        mask="causal()"),
    row("NaN in sight of one group, dropout", (2, 6, 71, 17), 211, 19, kv=(2, 2), spoil="v[0, 1, 100] = nan",
        dropout=0.2, seed=4),
    row("NaN in sight of one head, bias, sinks, softcap", SMALL, 211, 19, spoil="v[0, 1, 5, 2] = nan; k[1, 2, 7] = nan",
        bias="draw(3, 37, 211)", sinks="draw(3)", softcap=2.0),
    row("NaN in sight of some, float mask", SMALL, 211, 19, spoil="k[..., 200, :] = nan; v[..., 205, :] = nan",
        mask="np.where(np.tri(37, 211, 174, dtype=bool), 0, -inf)"),
    row("NaN in a query, alibi", TILES, 211, 19, spoil="q[1, 0, 70] = nan", bias="alibi(3)", mask="causal()"),
]  # fmt: skip

# A part of a longer sequence: masks, biases by distance and dropout speak of the whole.
PARTS = [
    row(f"part, {name}, {n_q} queries", (2, 6, n_q, 17), 211, 19, kv=(2, 2), part=(n_q, 101), **options)
    for n_q in (5, 131)
    for name, options in {
        "causal": {"mask": "causal()"},
        "window": {"mask": "window(90, 30)"},
        "lengths, prefix, documents": {"mask": "key_lengths([211, 307]) & (causal() | prefix(120)) & "
                                               "documents(np.arange(400) // 99)"},
        "array": {"mask": "array(flags(.6, 6, 262, 312))"},
        "blocks": {"mask": "block_sparse(flags(.5, 9, 11), 32)"},
        "dilated": {"mask": "dilated(4) & causal()"},
        "a rule": {"mask": "where(lambda b, h, i, j: (i + 2 * j + h) % 3 != b)"},
        "alibi": {"bias": "alibi(6)", "mask": "causal()"},
        "t5, its own offset": {"bias": "t5(draw(32, 6), offset=40)"},
        "flags of its own": {"mask": f"flags(.6, {n_q}, 211)"},
        "numbers of its own": {"bias": f"draw({n_q}, 211)", "mask": f"np.where(flags(.7, {n_q}, 211), 0, -inf)"},
        "dropout": {"dropout": 0.4, "seed": 3},
    }.items()
] + [
    row("part with an offset", (2, 3, 37, 17), 211, 19, part=(300, 64, -100), mask="window(120, 9)", bias="alibi(3)"),
    row("part out of sight", (2, 3, 37, 17), 211, 19, part=(0, 101), mask="causal()"),
    row("part, dropout in strips", (1, 2, 701, 5), 97, 3, part=(1000, 3), bias="alibi(2)", dropout=0.3, seed=5,
        mask="where(lambda b, h, i, j: (i * j) % 3 > 0)"),
    row("part, split keys", (2, 3, 17), 2503, 19, part=(5000, 2500), mask="causal() & ~window(2000)", bias="alibi(2)",
        dropout=0.2, seed=1),
    row("part, float64", (2, 3, 37, 17), 211, 19, part=(150, 90), mask="causal()", dropout=0.2, seed=1,
        dtype="float64"),
]  # fmt: skip

KINDS = [
    row(f"{dtype}, {name}", (2, 6, n_q, 17), 211, 19, kv=(2, 3), dtype=dtype, mask=mask)
    for dtype in (
        "float16",
        "bfloat16",
        "float64",
        "float32 float16 float16",
        "float32 bfloat16 bfloat16",
        "float16 float32 float32",
        "bfloat16 float32 float16",
        "float32 float64 float32",
        "float16 float64 bfloat16",
        "float64 float32 bfloat16",
    )
    for n_q, name, mask in ((5, "few queries", None), (71, "many queries", "causal()"))
]

LAYOUT_ROWS = [
    row(f"{layout}, {dtype}, {n_q} queries", (2, 3, n_q, 17), 211, 19, dtype=dtype, layout=layout, mask="causal()")
    for layout in LAYOUTS
    for dtype in TYPES
    for n_q in (5, 71)
    if not layout.startswith("one ") and layout != "plain" and (layout, dtype) != ("big-endian", "bfloat16")
] + [
    row(f"{layout}, {dtype}, {n_q} queries", (2, 3, n_q, 17), 211, 19, dtype=dtype, layout=layout, mask="causal()",
        spoil=ROUND_VALUES)
    for layout in LAYOUTS
    for dtype in TYPES
    for n_q in (5, 71)
    if layout.startswith("one ")
]  # fmt: skip

ROWS = [*SHAPES, *WIDTHS, *LEADING, *GROUPED, *SPLIT, *THIN, *PAIRS, *MASKS, *BIASES, *OPTIONS, *STRANGE, *KINDS,
        *LAYOUT_ROWS, *PARTS]  # fmt: skip
LOOKED = [row for row in ROWS if "part" not in row.options]  # those that a view can be had of
