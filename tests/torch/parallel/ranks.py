"""Ranks to test with: processes that are started once for a number of ranks, and do what they are sent.

A job is a function of this room's tests, by name, with arguments that can be pickled. It runs on every rank, and what
each of them answers, or raises, comes back.
"""

from __future__ import annotations

import contextlib
import datetime
import importlib
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

ROOT = Path(__file__).parents[3]
PATIENCE = 600.0  # seconds for ranks to meet: a busy machine is not a failure


groups: dict[int, Any] = {}  # in each process: the group of the first so many ranks


class Ranks:
    """Processes with a rank each, in one gloo group."""

    def __init__(self, count: int, *, timeout: float = PATIENCE, **environment: str) -> None:
        self.folder = tempfile.TemporaryDirectory()
        store = str(Path(self.folder.name) / "store")
        paths = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", **environment}
        self.processes = [
            subprocess.Popen(
                [sys.executable, "-m", "tests.torch.parallel.ranks", str(rank), str(count), store, str(timeout)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=environment,
            )
            for rank in range(count)
        ]  # fmt: skip

    def ask(self, name: str, *arguments: Any, ranks: list[int] | None = None) -> list[Any]:
        """What a function, "module.name" of these tests, answers on every rank; errors are answers too."""
        asked = [self.processes[rank] for rank in (range(len(self.processes)) if ranks is None else ranks)]
        for process in asked:
            assert process.stdin is not None
            pickle.dump((name, arguments), process.stdin)
            process.stdin.flush()
        return [_answer(process) for process in asked]

    def run(self, name: str, *arguments: Any, ranks: list[int] | None = None) -> list[Any]:
        """The same where nothing may go wrong."""
        answers = self.ask(name, *arguments, ranks=ranks)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return answers

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.communicate()
        self.folder.cleanup()


def _answer(process: subprocess.Popen[bytes]) -> Any:
    """What a process says; that it has died, if it has."""
    assert process.stdout is not None
    try:
        return pickle.load(process.stdout)
    except EOFError:
        return SystemExit(process.wait())


@contextlib.contextmanager
def started(count: int, **options: Any) -> Iterator[Ranks]:
    ranks = Ranks(count, **options)
    try:
        yield ranks
    finally:
        ranks.end()


def serve(jobs: BinaryIO, answers: BinaryIO) -> None:
    """Do what is sent, until nothing more comes."""
    while True:
        try:
            name, arguments = pickle.load(jobs)
        except EOFError:
            return
        module, function = name.split(".")
        try:
            found = getattr(importlib.import_module(f"tests.torch.parallel.{module}"), function)(*arguments)
        except Exception as error:
            error.add_note(f"in {name}")
            found = type(error)(*error.args)
        pickle.dump(found, answers)
        answers.flush()


def main() -> None:
    import torch
    import torch.distributed as dist

    rank, count, store, timeout = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed is no answer
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    patience, within = datetime.timedelta(seconds=PATIENCE), datetime.timedelta(seconds=timeout)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=count, timeout=patience)
    groups.update({some: dist.new_group(list(range(some)), timeout=within) for some in range(1, count + 1)})
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    from tests.torch.parallel import ranks

    ranks.main()  # of the module that tests import, and not of this one, which is called __main__
