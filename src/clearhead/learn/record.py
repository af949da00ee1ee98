"""What a learner has read and practised.

What was read is remembered in a small file of ours in the user's state directory. What was practised is only looked up,
in the workspace of the exercises.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from clearhead.files import write_whole
from clearhead.languages import Said
from clearhead.learn import words

VERSION = 1
NAME = "learn.json"
PROGRESS = Path("practice") / "progress.json"  # of the workspace, below where a learner works


class Record(NamedTuple):
    """The notes that were read, the exercises that were passed, and what had to be said about their files."""

    read: frozenset[str]
    passed: frozenset[str]
    troubles: tuple[Said, ...]


def state_folder() -> Path:
    """Where programs keep what they remember of a user: XDG_STATE_HOME, which counts only if it is absolute."""
    chosen = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (chosen if chosen.is_absolute() else Path.home() / ".local" / "state") / "clearhead"


def recorded() -> Record:
    """What is known of the learner. A file of ours that cannot be understood is set aside."""
    own, troubles = state_folder() / NAME, []
    try:
        read = _notes_read(_entries(own, "read"))
    except ValueError:
        aside = own.with_name(f"{NAME}.damaged")
        os.replace(own, aside)
        read = frozenset()
        troubles.append(words.DAMAGED.filled(path=own, aside=aside))
    try:
        passed = _exercises_passed(_entries(PROGRESS, "exercises"))
    except ValueError:
        passed = frozenset()
        troubles.append(words.NO_PROGRESS.filled(path=PROGRESS))
    return Record(read, passed, tuple(troubles))


def remember(name: str) -> Record:
    """Note that a note was read; returns what was known until then."""
    path, record = state_folder() / NAME, recorded()
    content = {"version": VERSION, "read": sorted({*record.read, name})}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(content, indent=1).encode())
    return record


def _entries(path: Path, key: str) -> Any:
    """What a file of version 1 holds under a key; nothing where there is no file."""
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    if not isinstance(content, dict) or content.get("version") != VERSION or key not in content:
        raise ValueError(f'{path} must be an object with "version": {VERSION} and {key!r}')
    return content[key]


def _notes_read(entries: Any) -> frozenset[str]:
    entries = [] if entries is None else entries
    if not isinstance(entries, list) or not all(isinstance(name, str) for name in entries):
        raise ValueError(f"the notes read must be a list of names, got {entries!r}")
    return frozenset(entries)


def _exercises_passed(entries: Any) -> frozenset[str]:
    entries = {} if entries is None else entries
    if not isinstance(entries, dict) or not all(isinstance(entry, dict) for entry in entries.values()):
        raise ValueError(f"the exercises must be objects by their name, got {entries!r}")
    return frozenset(name for name, entry in entries.items() if entry.get("passed") is True)
