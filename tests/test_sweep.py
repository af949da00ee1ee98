"""The command that draws new calls: what it says when all are right, when one is not, and when it is stopped."""

from __future__ import annotations

import re

import pytest

from . import sweep
from .problems import Row


def drawn(seed: int, calls: int = 20) -> list[str]:
    rows: list[str] = []
    sweep.check_batch(seed, calls, lambda row: rows.append(repr(row)))
    return rows


def test_a_seed_draws_the_same_calls_again_and_another_seed_others():
    assert drawn(7) == drawn(7)
    assert len(drawn(7)) == 20
    assert len(set(drawn(7)) & set(drawn(8))) < 5  # the simplest one is always tried


def test_all_are_right(monkeypatch, capsys):
    checked: list[Row] = []
    monkeypatch.setattr(sweep, "check_call", checked.append)
    monkeypatch.setattr(sweep, "BATCH", 11)
    assert sweep.main(["--calls", "25", "--seed", "3"]) == 0
    assert len(checked) == 25
    assert capsys.readouterr().out == "25 calls from seed 3 are right\n"


def test_a_new_seed_every_time(monkeypatch, capsys):
    monkeypatch.setattr(sweep, "check_call", lambda row: None)
    said = {sweep.main(["--calls", "1"]) or capsys.readouterr().out for _ in range(3)}
    assert len(said) == 3


def test_one_is_wrong(monkeypatch, capsys):
    """The smallest call that is wrong, and the seed of its batch: with that alone it is found again."""

    def check(row: Row) -> None:
        assert row.q[-2] < 5, f"{row.q[-2]} queries are too many"

    monkeypatch.setattr(sweep, "check_call", check)
    assert sweep.main(["--calls", "50", "--seed", "3"]) == 1
    said = capsys.readouterr().err
    assert "AssertionError: 5 queries are too many" in said
    assert re.search(r"row=Row\(name='drawn 0',\s+q=\([0-9, ]*5, 1\),", said)
    assert "make sweep ARGS='--seed 3 --calls 50'" in said
    with pytest.raises(AssertionError, match="5 queries are too many"):
        sweep.check_batch(3, 50, check)


def test_ctrl_c(monkeypatch, capsys):
    checked: list[Row] = []

    def check(row: Row) -> None:
        if len(checked) == 17:
            raise KeyboardInterrupt
        checked.append(row)

    monkeypatch.setattr(sweep, "check_call", check)
    assert sweep.main(["--calls", "50", "--seed", "3"]) == 130
    said = capsys.readouterr()
    assert said.out == "stopped: 17 calls from seed 3 were right\n"
    assert "Traceback" not in said.err
