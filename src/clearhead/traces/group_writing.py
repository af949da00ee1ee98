"""A trace written by all ranks of a group, each to a file of its own; see `rank_files`.

Ranks work side by side, as a layer is looked at by all of them. What goes wrong on one is told to all after each layer,
and no file is there before all of them are whole.
"""

from __future__ import annotations

import contextlib
import functools
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

import clearhead
from clearhead.files import put_in_place
from clearhead.languages import RefusedError
from clearhead.torch.parallel.agreeing import member, must_agree, told
from clearhead.traces import words
from clearhead.traces.end_to_end import PAGE, before
from clearhead.traces.rank_files import FILLER, MAPPED, PART, SEVERAL, part_of
from clearhead.traces.scratch import Scratch
from clearhead.traces.storing import checked_target, description, entries_of, opened, room, write_calls
from clearhead.traces.tensor_files import Writer

if TYPE_CHECKING:
    from clearhead.traces.result import Trace

MOST_ARRAYS = 64  # of a layer: most are there once for each of two runs, some with a filler


class RankWriter(Writer):
    """The file of one rank. What cannot be written is told to all ranks when a layer is done."""

    def __init__(self, file: IO[bytes], room: int, group: Any) -> None:
        super().__init__(file, room)
        self.group, self.rank = group, member(group)[0]
        self.error: Exception | None = None
        self.fillers = 0

    def put(self, name: str, array: np.ndarray) -> None:
        """What all ranks have is written by one of them."""
        if self.rank == 0:
            self._try(lambda: super(RankWriter, self).put(name, array))

    def put_rows(self, name: str, part: str, array: np.ndarray, runs: Any) -> None:
        """This rank's rows, (h, rows, …), of which each run of positions is an array of its own, rows first."""
        begun = 0
        for run in runs:
            rows = np.moveaxis(array[:, begun : begun + len(run)], 1, 0)
            begun += len(run)
            if run:
                self._try(functools.partial(self._put_run, f"{name}@{run.start}", part, rows, run))

    def _put_run(self, name: str, part: str, rows: np.ndarray, run: range) -> None:
        if part in MAPPED and rows.nbytes >= 2 * PAGE:  # or no whole page could be mapped
            nbytes = before(8 + self.room + self.place, run.start * rows[0].nbytes)
            if nbytes:
                super().put(f"{FILLER}/{self.fillers}", np.zeros(nbytes, np.uint8))
                self.fillers += 1
        super().put(name, rows)

    def _try(self, put: Callable[[], None]) -> None:
        if self.error is None:
            try:
                put()
            except OSError as error:
                self.error = error

    def layer_done(self) -> None:
        def tell() -> None:
            if self.error is not None:
                raise self.error

        told(self.group, tell)


def write_together(path: Path, trace: Trace, group: Any, scratch: Scratch | None = None) -> str:
    """What `storing.write` does, by all ranks; each calls it, with a path of the same name. → what it is known by"""
    rank, ranks = member(group)
    said = told(group, lambda: (_facts(checked_target(path), trace), secrets.token_hex(8)))
    names = [facts.pop("name") for facts, _ in said]
    if len(set(names)) > 1:
        raise ValueError(
            f"a trace has one name on all ranks, got {', '.join(sorted(set(names)))}; each writes a file of its own "
            f"beside that of rank 0, such as {part_of(Path(names[0]), 1, ranks)}"
        )
    must_agree([facts for facts, _ in said])
    parts = {"ranks": ranks, "identity": said[0][1], "name": path.name}
    own, needed = part_of(checked_target(path), rank, ranks), room(trace, MOST_ARRAYS)
    with contextlib.ExitStack() as until_the_end:
        begun: list[tuple[Scratch, RankWriter]] = []

        def begin() -> None:
            beside = until_the_end.enter_context(Scratch(own)) if scratch is None else scratch
            file = until_the_end.enter_context(beside.draft.open("wb"))
            begun.append((beside, RankWriter(file, needed, group)))

        told(group, begin)
        beside, writer = begun[0]
        calls = write_calls(writer, trace, scratch)
        about = {"kind": PART, "rank": rank, "clearhead": clearhead.__version__, **parts}
        if rank == 0:
            about = {**description(trace, calls), "parts": parts}

        def finish() -> None:
            writer.finish({"version": SEVERAL, **about})
            writer.file.close()

        told(group, finish)
        told(group, lambda: put_in_place(beside.draft, own) if rank else None)
        told(group, lambda: None if rank else put_in_place(beside.draft, own))
    return said[0][1]


def opened_together(path: Path, group: Any, identity: str) -> list[Any]:
    """The forwards that all ranks have written, if all files can be seen from here."""
    rank, ranks = member(group)
    with contextlib.suppress(RefusedError, FileNotFoundError):  # if others wrote elsewhere, older files may be here
        takes, description = opened(path)
        if description.get("parts", {}).get("identity") == identity:
            return takes
    return _Elsewhere(path, ranks, [part_of(path, other, ranks).name for other in range(ranks) if other != rank])


class _Elsewhere(list[Any]):
    """Forwards in files that lie on several machines."""

    def __init__(self, path: Path, ranks: int, missing: list[str]) -> None:
        super().__init__()
        self.refusal = words.PARTS_MISSING.filled(path=path, ranks=ranks, missing=", ".join(missing))

    def __iter__(self) -> Iterator[Any]:
        raise RefusedError(self.refusal)

    def __len__(self) -> int:
        raise RefusedError(self.refusal)

    def __getitem__(self, place: Any) -> Any:
        raise RefusedError(self.refusal)


def _facts(path: Path, trace: Trace) -> dict[str, Any]:
    """What must be the same on all ranks of a trace that they write."""
    return {
        "name": path.name,
        "what was kept of layers": str([_kept(take.piece(take.names[0], 0)) for take in trace._takes if take.names]),
        "the layers that were traced": ", ".join(trace.names),
        "the sequences of each forward": str([entries_of(take, trace) for take in trace._takes]),
        "top_k and map_size": f"{trace._top_k} and {trace._map_size}",
    }


def _kept(piece: Any) -> list[str]:
    """What there is of a layer besides queries and keys."""
    return [name for name in ("v", "gradient") if getattr(piece, name) is not None]
