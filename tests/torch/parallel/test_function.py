"""Attention over two and four ranks beside the same call on one machine: output, lse and every gradient."""

from __future__ import annotations

import functools
import re
import signal

import numpy as np
import pytest
from hypothesis import given, settings
from tests.torch.parallel import cases, drawn
from tests.torch.parallel.cases import TABLE, Case, compare
from tests.torch.parallel.ranks import Ranks, started


@functools.cache
def expected(name: str) -> dict[str, np.ndarray]:
    return cases.expected(TABLE[name])


EVERY = [(name, ranks) for name, case in TABLE.items() for ranks in case.only]


@pytest.mark.parametrize(("name", "ranks"), EVERY)
def test_ranks_get_what_one_machine_gets(four: Ranks, name: str, ranks: int):
    case = TABLE[name]
    parts = four.run("cases.attended", case, ranks, ranks=list(range(ranks)))
    compare(case, cases.together(case, parts), expected(name))


@pytest.mark.parametrize(("name", "ranks"), [(name, ranks) for name, ranks in EVERY if TABLE[name].split == "heads"])
def test_by_heads_the_output_has_the_same_bits(four: Ranks, name: str, ranks: int):
    case = TABLE[name]
    whole = cases.together(case, four.run("cases.attended", case, ranks, ranks=list(range(ranks))))
    for what in ("output", *(["lse"] if case.lse else []), "d_q"):
        np.testing.assert_array_equal(whole[what], expected(name)[what], err_msg=what)


@pytest.mark.parametrize("name", ["plain", "block sparse by head", "a boolean tensor", "t5 with a table"])
def test_by_queries_the_output_has_the_same_bits_where_every_key_is_fetched(four: Ranks, name: str):
    whole = cases.together(TABLE[name], four.run("cases.attended", TABLE[name], 4))
    for what in ("output", "lse", "d_q"):
        np.testing.assert_array_equal(whole[what], expected(name)[what], err_msg=what)


def test_it_is_the_same_from_run_to_run(four: Ranks):
    first, second = (four.run("cases.attended", TABLE["float32"], 4) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert all((one[name] == other[name]).all() for name in one)


@settings(max_examples=12)
@given(drawn.cases(4))
def test_drawn_calls(four: Ranks, case: Case):
    drawn.check(four, case)


class TestWhereRanksDoNotAgree:
    """The same words on every rank."""

    def answers(self, ranks: Ranks, what: str) -> str:
        found = ranks.ask("mistakes.make", what)
        assert {type(x) for x in found} == {ValueError}, found
        assert len({str(x) for x in found}) == 1
        return str(found[0])

    def test_shapes(self, four: Ranks):
        said = self.answers(four, "width")
        assert said == (
            "the ranks do not agree on the shape of q: rank 0 has (2, …, 5), rank 2 has (2, …, 6); every rank passes "
            "its shard of one and the same call"
        )

    @pytest.mark.parametrize(
        ("what", "words"),
        [
            ("type", "do not agree on the type of v: rank 0 has float32, rank 2 has float64"),
            ("mask", r"do not agree on mask: rank 0 has causal\(\) .*, rank 2 has window\(3\)"),
            ("documents", "do not agree on mask: rank 0 has documents"),
            ("seed", "do not agree on seed: rank 0 has 1, rank 2 has 2"),
            ("sinks", "do not agree on sinks: rank 0 has float32 of shape"),
            ("gradient", "do not agree on whether k needs a gradient: rank 0 has False, rank 2 has True"),
            ("split", "do not agree on split: rank 0 has queries, rank 2 has heads"),
            ("array", r"rank 2 could not take part: TypeError: q must be a torch tensor here, got a NumPy array"),
            ("nan", r"rank 2 could not take part: ValueError: .*NaN"),
            ("rule", "rank 2 could not take part: ZeroDivisionError: a rule that fails"),
            (
                "zigzag",
                r"layout='zigzag' cuts 13 positions into 3, 3, 3, 4 rows for ranks 0 … 3, but their queries have 3, 3",
            ),
        ],
    )
    def test_everything_else(self, four: Ranks, what: str, words: str):
        said = self.answers(four, what)
        assert re.search(words, said), said

    def test_what_is_wrong_everywhere_reads_as_on_one_machine(self, four: Ranks):
        found = four.ask("mistakes.make", "everybody")
        assert {str(x) for x in found} == {"documents: there are 12 keys but ids for 11"}

    def test_the_group_still_works(self, four: Ranks):
        case = TABLE["causal"]
        compare(case, cases.together(case, four.run("cases.attended", case, 4)), expected("causal"))


def test_a_rank_that_dies_is_an_error_on_every_other():
    with started(2, timeout=15.0) as ranks:
        other, killed = ranks.ask("mistakes.die", 1)
    assert isinstance(killed, SystemExit)
    assert killed.code == -signal.SIGKILL
    assert isinstance(other, RuntimeError), other
