"""The files of the translator: trained models, and trainings to be continued.

Both are safetensors with a description in JSON in the header, so nothing in them can run. A model's file is that of
`clearhead.Transformer.save` with more in its description, so `clearhead.Transformer.load` reads it too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as safetensors_bytes

from clearhead.files import write_whole

KEY = "clearhead"  # the one entry of the header: with several, their order would change from run to run
VERSION = 1
MODEL = "Transformer"
CHECKPOINT = "translator checkpoint"
WORDS = {MODEL: "a trained translator", CHECKPOINT: "a training to be continued"}


class Contents(NamedTuple):
    """What a file holds: its description and its arrays by name."""

    description: dict[str, Any]
    arrays: dict[str, np.ndarray]


def write(path: Path, description: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Replace the file at `path` in one step: a crash before its end leaves what was there before."""
    path = checked_place(path)
    # In row order: safetensors writes the memory of an array as it lies, whatever its strides say.
    rows = {name: np.array(array, order="C") for name, array in arrays.items()}
    content = safetensors_bytes(rows, {KEY: json.dumps(description, ensure_ascii=False)})
    write_whole(path, content)


def read(path: Path, kind: str) -> Contents:
    """The file at `path`, which must be of the given kind, MODEL or CHECKPOINT.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is not a safetensors file, or holds something else.
    """
    expected = WORDS[kind]
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; expected {expected}")
    try:
        with safe_open(path, framework="np") as file:
            description = json.loads((file.metadata() or {}).get(KEY, "{}"))
            found = description.get("kind")
            ours = found == kind and (kind != MODEL or "translator" in description)
            if not ours or description.get("version") != VERSION:
                raise ValueError(f"{path} does not hold {expected} but {_what(description)}")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except SafetensorError as error:
        raise ValueError(f"{path} is not a safetensors file, expected {expected}: {error}") from None
    return Contents(description, arrays)


def checked_place(path: Path) -> Path:
    """A path in a folder that exists, which is not itself a folder. A link keeps pointing where it pointed."""
    path = path.resolve()
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {path.parent} does not exist; make it first")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it")
    return path


def _what(description: Mapping[str, Any]) -> str:
    kind, version = description.get("kind"), description.get("version")
    if kind is None:
        return "arrays that clearhead did not write"
    if kind == MODEL and "translator" not in description:
        return "a Transformer without a vocabulary"
    if version != VERSION:
        return f"{WORDS.get(kind, f'a {kind}')} of version {version}, where this clearhead reads version {VERSION}"
    return WORDS.get(kind, f"a {kind}")
