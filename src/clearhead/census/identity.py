"""What a census is of: a file beside its rows that says so, and refuses to mix rows of different ones."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from clearhead.census import words
from clearhead.census.corpus import BLOCK, Plan
from clearhead.census.naming import printable
from clearhead.census.rows import written_rows
from clearhead.census.survey import Settings
from clearhead.files import write_whole
from clearhead.languages import RefusedError, Said

NAME, FORMAT = "census.json", 2


def identity(model: Path, plan: Plan, settings: Settings) -> dict[str, Any]:
    """What makes a census what it is: the model's files, the corpus's, and settings."""
    told = asdict(settings)
    return {
        "format": FORMAT,
        "model": {"name": printable(model.resolve().name), "digest": folder_digest(model)},
        "corpus": {"files": plan.files, "documents": plan.documents, "digest": plan.digest},
        "settings": told | {"layers": None if settings.layers is None else list(settings.layers)},
        "shards": len(plan.shards),
    }


def mark(told: dict[str, Any]) -> str:
    """A hash of what makes a census what it is, which each of its rows has. What a model is called is no part of it."""
    parts = [told["format"], told["model"]["digest"], told["corpus"]["digest"], told["settings"], told["shards"]]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def folder_digest(folder: Path) -> str:
    """A hash of all files of a folder, names and bytes."""
    digest = hashlib.sha256()
    for path in sorted(x for x in folder.rglob("*") if x.is_file()):
        inside = path.relative_to(folder)
        if any(part.startswith(".") or part == "__pycache__" for part in inside.parts):
            continue
        digest.update(printable(inside.as_posix()).encode() + b"\0")
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
    return digest.hexdigest()


def claimed(out: Path, told: dict[str, Any], *, resume: bool) -> None:
    """Make a folder that of a census, or go on with it; refused where it is another's."""
    place = out / NAME
    if not place.exists() or not written_rows(out / "shards"):  # one that has not begun is no loss
        if not place.exists() and out.exists() and not _is_unused(out):
            raise RefusedError(words.NOT_A_CENSUS.filled(out=out))
        (out / "shards").mkdir(parents=True, exist_ok=True)
        write_whole(place, (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode())
        return
    if not resume:
        raise RefusedError(words.ALREADY_THERE.filled(out=out))
    others = differences(identity_of(out), told)
    if others:
        raise RefusedError(words.ANOTHER_CENSUS.filled(out=out, others=words.joined(others)))
    for draft in (out / "shards").glob(".*.parquet.*.unfinished"):  # of a process that was killed while it wrote
        draft.unlink(missing_ok=True)


def _is_unused(out: Path) -> bool:
    """Whether a folder has nothing in it, or no more than a process made that was killed before it said what for."""
    if not out.is_dir():
        return False
    drafts = {x.name for x in out.glob(f".{NAME}.*.unfinished")}
    return {x.name for x in out.iterdir()} - drafts <= {"shards"} and not any((out / "shards").glob("*"))


def identity_of(out: Path) -> dict[str, Any]:
    """What a census is of, as its folder says."""
    found: dict[str, Any] = json.loads((out / NAME).read_text(encoding="utf-8"))
    if found.get("format") != FORMAT:
        raise RefusedError(words.OTHER_FORMAT.filled(path=out / NAME, there=found.get("format"), known=FORMAT))
    return found


def differences(known: dict[str, Any], told: dict[str, Any]) -> list[Said]:
    """Where two censuses are not of the same, in words: `max_tokens 512, 256`."""
    found = [
        words.OTHER_PARTS[part].filled(there=_called(known[part]), now=_called(told[part]))
        for part in ("model", "corpus")
        if known[part]["digest"] != told[part]["digest"]
    ]
    for name, now in told["settings"].items():
        there = known["settings"].get(name)
        if there != now:
            values = {"there": words.NONE if there is None else there, "now": words.NONE if now is None else now}
            found.append(words.OTHER_SETTING.filled(name=name, **values))
    return found


def _called(part: dict[str, Any]) -> Said:
    """A model or a corpus as people would tell it, with the beginning of its hash, as names may be the same."""
    name = part.get("name") or words.counted("documents", part["documents"])
    return words.CALLED.filled(name=name, digest=part["digest"][:8])
