"""Taking a census: the shards that have no row yet go through Ray, and their rows come back to be written.

Ray places the workers, feeds them, and replaces those that die; a row that is made twice has the same bytes. Only this
process writes, a whole file at a time, so whatever ends it leaves rows that can be gone on with.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clearhead import advice, checks
from clearhead.census import words
from clearhead.census.corpus import Plan, Shard, planned
from clearhead.census.identity import claimed, identity, mark
from clearhead.census.result import Census, load, write_tables
from clearhead.census.rows import rows_of
from clearhead.census.survey import Settings, limit_of
from clearhead.census.terminal import muted
from clearhead.census.worker import Surveyor
from clearhead.files import write_whole
from clearhead.languages import NotThereError, RefusedError

ROOM = 0.5  # of a CPU is left to Ray's own work beside each worker: without it, some of it never starts


class Step(NamedTuple):
    """How far a census is: documents and tokens of the shards that are done, and of them those of this run.

    left_out: files in folders that are of no kind that is read
    """

    documents: int
    of: int
    new_documents: int
    new_tokens: int
    left_out: tuple[str, ...] = ()


def take(
    model: str | Path,
    corpus: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    field: str = "text",
    max_tokens: int | None = None,
    layers: Sequence[int | str] | None = None,
    shard: int = 32,
    workers: int | None = None,
    threads: int = 1,
    address: str | None = None,
    resume: bool = False,
    tell: Callable[[Step], None] | None = None,
) -> Census:
    """Run a model over every document of a corpus, and gather what each of its heads does.

        census = clearhead.census.take("model/", ["texts/"], "out/")

    model: a folder with a model of transformers and its tokenizer. corpus: files and folders; see
    `clearhead.census.corpus`. out: the folder to write to. → the finished census, as `load` gives it

    Args:
        field: of JSON lines and Parquet, where the text is.
        max_tokens: cut documents off after so many tokens; without it, one that is longer than the model can read is
            left out and reported.
        layers: which to count, by number or module path; all unless given.
        shard: how many documents make a row, which is what is lost when a worker dies.
        workers: how many processes hold a model; as many as there are processors unless given.
        threads: of each worker. The same number gives the same bits on the same kind of processor.
        address: of a Ray cluster that runs; without it, Ray is started on this machine, and ended.
        resume: go on with what is in `out`, if it is of the same model, corpus and settings.
        tell: called whenever a row has been written.

    Raises:
        ValueError: there is no model or nothing to read, or `out` has another census, or has one and resume is False.
    """
    checks.count("threads", threads)
    checks.count("shard", shard)
    folder, target = Path(model), Path(out)
    settings = Settings(field, max_tokens, None if layers is None else tuple(layers), threads, shard)
    check_model(folder, settings)
    paths = [corpus] if isinstance(corpus, (str, Path)) else corpus
    for read in (folder, *map(Path, paths)):
        if target.resolve().is_relative_to(read.resolve()):  # what is written would be read when it is gone on with
            raise RefusedError(words.INSIDE.filled(out=target, read=read))
    plan = planned(paths, size=shard, field=field)
    if not plan.documents:
        raise RefusedError(words.NO_DOCUMENTS)
    told = identity(folder, plan, settings)
    claimed(target, told, resume=resume)
    rows = target / "shards"
    done = rows_of(rows, mark(told))
    missing = [each._replace(census=mark(told)) for each in plan.shards if each.number not in done]
    done_before = plan.documents - sum(each.documents for each in missing)
    step = Step(done_before, plan.documents, 0, 0, tuple(plan.left_out))
    if tell is not None:
        tell(step)
    if missing:
        with connected(address):
            made = _from_afar if _is_afar() else surveyed
            for found in made(missing, folder, settings, workers):
                write_whole(rows / f"{found['number']:08}.parquet", found["row"])
                step = _after(step, int(found["documents"]), int(found["tokens"]))
                if tell is not None:
                    tell(step)
    write_tables(target)
    return load(target)


def _after(step: Step, documents: int, tokens: int) -> Step:
    return step._replace(
        documents=step.documents + documents,
        new_documents=step.new_documents + documents,
        new_tokens=step.new_tokens + tokens,
    )


def check_model(folder: Path, settings: Settings) -> None:
    """What can be refused before anything large is loaded."""
    if not (folder / "config.json").is_file():
        raise NotThereError(words.NO_MODEL.filled(model=folder))
    try:
        import transformers
    except ModuleNotFoundError:
        raise RefusedError(words.NO_EXTRA.filled(install=advice.install("census"))) from None
    try:
        config = transformers.AutoConfig.from_pretrained(folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    except (OSError, ValueError, KeyError) as error:
        raise RefusedError(words.NOT_LOADED.filled(model=folder, why=_first_line(error))) from None
    limit = limit_of(config, tokenizer)
    if settings.max_tokens is not None:
        checks.count("max_tokens", settings.max_tokens, least=2)
        if limit is not None and settings.max_tokens > limit:
            raise RefusedError(words.PAST_THE_LIMIT.filled(given=settings.max_tokens, limit=limit))


@contextlib.contextmanager
def connected(address: str | None, processors: int | None = None) -> Iterator[None]:
    """Ray for a while: the one that this process has, that of a cluster, or one of its own on this machine.

    processors: how many that one of its own takes itself to have; as many as there are unless given.
    """
    try:
        import ray
    except ModuleNotFoundError:
        raise RefusedError(words.NO_EXTRA.filled(install=advice.install("census"))) from None
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent to anybody
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address is None:
        quiet |= {"include_dashboard": False, "num_cpus": processors}
    try:
        with muted():
            ray.init(address or "local", **quiet)
    except (ConnectionError, ValueError) as error:
        raise RefusedError(words.NOT_CONNECTED.filled(address=address, why=_first_line(error))) from None
    try:
        yield
    finally:
        ray.shutdown()


def surveyed(shards: list[Shard], model: Path, settings: Settings, workers: int | None) -> Iterator[dict[str, Any]]:
    """The rows of shards, by Ray Data, in the order in which they are done."""
    import ray
    import ray.data

    workers = checked_workers(workers, settings.threads, _processors())
    with _quietly():
        rows = ray.data.from_items([{"shard": x.as_json()} for x in shards], override_num_blocks=len(shards))
        done = rows.map_batches(
            Surveyor,
            fn_constructor_args=(str(model.absolute()), settings),
            batch_size=1,
            num_cpus=settings.threads - ROOM,
            compute=ray.data.ActorPoolStrategy(size=min(workers, len(shards))),
        )
        try:
            yield from done.iter_rows()
        except ray.exceptions.RayError as error:
            why = _cause(error)
            said = why.said if isinstance(why, RefusedError) else _first_line(why)
            raise RefusedError(words.WORKER_FAILED.filled(why=said)) from error


def _processors() -> list[float]:
    """How many processors each machine of the cluster has."""
    import ray

    return [float(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]


def checked_workers(workers: int | None, threads: int, processors: list[float]) -> int:
    """How many workers there are to be, as many as there is room for unless given. More would wait for it for ever.

    A worker is on one machine, so that what several have left over is no room for it. Room for Ray is left on each: of
    so many workers, wherever Ray puts them, at least one machine then has it.
    """
    if workers is None:
        workers = max(1, sum(int(own // threads) for own in processors))
    checks.count("workers", workers)
    most = sum(int(max(own - ROOM, 0) // (threads - ROOM)) for own in processors)
    if workers > most:
        numbers = {"workers": workers, "threads": threads, "machines": len(processors)}
        told = {what: words.counted(what, count) for what, count in numbers.items()}
        room = {"cpus": sum(processors), "largest": max(processors, default=0), "most": most}
        raise RefusedError(words.TOO_MANY_WORKERS.filled(**told, **room))
    return workers


def _is_afar() -> bool:
    """Whether this process is no part of the cluster but a client of it, at ray://, where Ray Data cannot run."""
    import ray.util.client

    return bool(ray.util.client.ray.is_connected())


def _from_afar(shards: list[Shard], model: Path, settings: Settings, workers: int | None) -> Iterator[dict[str, Any]]:
    """The same rows, asked one by one of an actor in the cluster."""
    import ray

    there = ray.remote(num_cpus=0)(Steward).remote(
        [x.as_json() for x in shards], str(model.absolute()), settings, workers
    )
    while (row := ray.get(there.next_row.remote())) is not None:
        yield row


class Steward:
    """In the cluster, for a client that is not: it has the rows made, and hands them over as they are asked for."""

    def __init__(self, shards: list[str], model: str, settings: Settings, workers: int | None) -> None:
        self.rows = surveyed([Shard.from_json(shard) for shard in shards], Path(model), settings, workers)

    def next_row(self) -> dict[str, Any] | None:
        return next(self.rows, None)


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Ray Data without bars and reports of its own."""
    import ray.data

    context = ray.data.DataContext.get_current()
    told = {"enable_progress_bars": False, "print_on_execution_start": False, "raise_original_map_exception": True}
    before = {name: getattr(context, name) for name in told}
    loggers = {name: logging.getLogger(name).level for name in ("ray.data", "ray")}
    for name, value in told.items():
        setattr(context, name, value)
    for name in loggers:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(context, name, value)
        for name, level in loggers.items():
            logging.getLogger(name).setLevel(level)


def _cause(error: BaseException) -> BaseException:
    """The error in a worker that an error of Ray's is about."""
    while (inner := getattr(error, "cause", None) or error.__cause__) is not None:
        error = inner
    return error


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


__all__ = ["Plan", "Step", "take"]
