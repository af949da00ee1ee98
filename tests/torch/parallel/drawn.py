"""Calls over a group, drawn at random and compared with one machine. As a command, new ones until it is stopped:

python -m tests.torch.parallel.drawn --calls 500
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st
from tests.torch.parallel import cases as table
from tests.torch.parallel.cases import Case, compare
from tests.torch.parallel.ranks import Ranks, started

MASKS = st.sampled_from(
    [
        "None",
        "masks.causal()",
        "masks.window(1)",
        "masks.window(9)",
        "masks.window(3, 4)",
        "masks.causal(offset=-2)",
        "masks.causal() & (masks.window(2) | masks.prefix(3))",
        "masks.causal() | masks.prefix(4)",
        "~masks.window(5, 5)",
        "masks.dilated(2) & masks.window(11)",
        "masks.key_lengths(np.array(max(n_k - 3, 0)))",
        "masks.documents(np.arange(max(n, n_k)) // 7) if n == n_k else masks.causal()",
        "masks.where(lambda b, h, i, j: (i * 3 + j * 5 + h + b) % 4 < 2)",
        "masks.array(rng.random((heads, n, n_k)) < 0.4)",
        "torch.from_numpy(rng.random((n, n_k)) < 0.4)",
        "leaf('mask', n, n_k)",
    ]
)
BIASES = st.sampled_from(
    ["None", "leaf('bias', heads, n, n_k)", "leaf('bias', n, 1)", "biases.alibi(leaf('slopes', heads))",
     "biases.t5(leaf('table', 6, heads), bidirectional=False)", "numpy_biases.alibi(heads)"]
)  # fmt: skip
SINKS = st.sampled_from(["None", "leaf('sinks', heads)", "-0.5"])


@st.composite
def cases(draw: Any, ranks: int) -> Case:
    """A call that any number of ranks can make, by either split."""
    layout = draw(st.sampled_from(["contiguous", "zigzag"]))
    n = draw(st.integers(0, 70))
    n_k = n if draw(st.booleans()) else n + draw(st.integers(0, 20))
    lengths = None
    if layout == "contiguous" and n_k == n and draw(st.booleans()):
        edges = sorted(draw(st.lists(st.integers(0, n), min_size=ranks - 1, max_size=ranks - 1)))
        lengths = tuple(int(x) for x in np.diff([0, *edges, n]))
    kv_heads, group = draw(st.sampled_from([(4, 1), (4, 2), (1, 4), (2, 2), (5, 1)]))
    options: dict[str, Any] = {}
    if draw(st.booleans()):
        options |= {"softcap": draw(st.sampled_from([0.5, 3.0]))}
    if draw(st.booleans()):
        options |= {"dropout": draw(st.sampled_from([0.1, 0.6])), "seed": draw(st.integers(0, 2**64 - 1))}
    if draw(st.booleans()):
        options |= {"scale": draw(st.sampled_from([0.0, 0.3, 1.5]))}
    return Case(
        n=n, n_k=n_k, kv_heads=kv_heads, heads=kv_heads * group, batch=draw(st.sampled_from([(), (2,), (2, 1, 2)])),
        mask=draw(MASKS), bias=draw(BIASES), sinks=draw(SINKS), options=options, layout=layout, lengths=lengths,
        split=draw(st.sampled_from(["queries", "heads"])), lse=draw(st.booleans()), only=(ranks,),
    )  # fmt: skip


def check(ranks: Ranks, case: Case) -> None:
    """Hold a call to one machine's, in float64."""
    count = case.only[0]
    parts = ranks.run("cases.attended", case, count, ranks=list(range(count)))
    compare(case, table.together(case, parts), table.expected(case))


def main() -> None:
    parser = argparse.ArgumentParser(description="draw calls over four ranks, and compare each with one machine")
    parser.add_argument("--calls", type=int, default=200, help="how many (200 unless given)")
    calls = parser.parse_args().calls
    with started(4) as four:

        @settings(max_examples=calls, deadline=None, database=None, print_blob=True)
        @given(cases(4))
        def drawn(case: Case) -> None:
            check(four, case)

        drawn()
    print(f"{calls} calls over four ranks are what one machine gives")


if __name__ == "__main__":
    main()
