"""Ray gives the bytes of a plain loop, whoever dies on the way. `python -m tests.census.campaign` does more of it."""

from __future__ import annotations

import shutil

import pytest

from clearhead.census import take, taking
from clearhead.census.corpus import planned
from clearhead.census.survey import Settings
from clearhead.census.taking import Steward, checked_workers, surveyed
from clearhead.languages import RefusedError

from . import campaign, small


def test_a_driver_is_killed_and_then_one_of_two_workers(model, corpus, taken, tmp_path, ray_address):
    """One worker makes the first rows, until the process that writes is killed; two go on, of which one is killed."""
    out, shards = tmp_path / "out", len(list((taken / "shards").iterdir()))
    written = campaign.killed_driver(model, corpus, out, ray_address, rows=2)
    assert 2 <= written < shards
    assert not (out / "heads.parquet").exists()
    killer = campaign.Killer(after=1)
    census = take(model, corpus, out, shard=small.SHARD, workers=2, resume=True, tell=killer)
    assert killer.pids, "no worker was killed"
    assert killer.steps == shards - written, "shards that had their rows were done again"
    assert census.finished
    assert small.contents(out) == small.contents(taken)


def test_the_folder_is_listed_once_however_many_shards_there_are(model, corpus, taken, tmp_path, monkeypatch):
    out, listed = shutil.copytree(taken, tmp_path / "out"), []
    known = taking.rows_of
    monkeypatch.setattr(taking, "rows_of", lambda folder, census: listed.append(folder) or known(folder, census))
    assert take(model, corpus, out, shard=small.SHARD, resume=True).finished
    assert listed == [out / "shards"]


@pytest.mark.parametrize(("workers", "threads"), [(4, 1), (1, 3), (40, 1)])
def test_more_workers_than_fit_are_refused(model, corpus, ray_address, workers, threads):
    """Ray would wait for room for ever."""
    shards = planned([corpus], size=1).shards
    told = rf"^{workers} workers? of {threads} threads? cannot be placed on 1 machine \(processors: 2, on the largest 2"
    with pytest.raises(RefusedError, match=told):
        next(surveyed(shards, model, Settings(threads=threads), workers))


@pytest.mark.parametrize(
    ("processors", "threads", "workers", "most"),
    [
        ([2], 1, 2, 3), ([1], 1, 1, 1), ([4, 4], 4, 2, 2), ([4, 4], 8, 1, 0), ([2, 2, 2, 2], 3, 1, 0),
        ([0, 8], 2, 4, 5), ([64, 2], 8, 8, 8), ([3, 3], 2, 2, 2), ([], 1, 1, 0),
    ],
)  # fmt: skip
def test_a_worker_has_to_fit_on_one_machine(processors, threads, workers, most):
    """Four machines of two processors have eight, and no place for a worker of three threads."""
    processors = [float(own) for own in processors]
    if most:
        assert checked_workers(None, threads, processors) == workers
        assert checked_workers(most, threads, processors) == most
    with pytest.raises(RefusedError, match=rf"^{most + 1} workers? of {threads} threads? .*: {most} can, as each"):
        checked_workers(most + 1, threads, processors)
    if not most:
        with pytest.raises(RefusedError, match="as each is on one machine; take fewer --workers or --threads"):
            checked_workers(None, threads, processors)


def test_rows_are_handed_over_one_by_one_to_a_client(model, corpus, monkeypatch):
    shards = planned([corpus], size=5).shards
    monkeypatch.setattr("clearhead.census.taking.surveyed", lambda given, *_: ({"number": x.number} for x in given))
    steward = Steward([shard.as_json() for shard in shards], str(model), Settings(), None)
    assert [steward.next_row() for _ in shards] == [{"number": shard.number} for shard in shards]
    assert steward.next_row() is None
