"""What every layer has in common: its parameters by name, and a file to keep them in.

A layer is a plain object. Its arrays are its parameters, the layers it holds bring theirs under a dotted name, and
the arguments of its constructor are its settings. Nothing is registered and nothing is hidden, so a learner may
assign `layer.W_Q = ...` and everything below sees it.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike, DTypeLike
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as safetensors_bytes

from clearhead import checks
from clearhead.files import write_whole
from clearhead.masks import Mask
from clearhead.textbook.linear_map import linear

SETTINGS_VERSION = 1
_METADATA_KEY = "clearhead"  # one key: with several, their order in the file would change from run to run

SomeModule = TypeVar("SomeModule", bound="Module")


class Module:
    """A layer. Calling it is calling its `forward`.

    A subclass keeps each argument of its constructor, `seed` apart, as an attribute of the same name: that is how
    `save` finds the settings and `load` builds the same object again. `follows` names settings that are another one
    unless given: `num_kv_heads` is `num_heads`.
    """

    forward: Callable[..., Any]
    follows: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        """A call has the signature of `forward`; layers here say so too, for type checkers, which do not read this."""
        super().__init_subclass__(**options)
        if "forward" in vars(cls):
            setattr(cls, "__call__", cls.forward)  # noqa: B010 (a type checker would take it for a mistake)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def __repr__(self) -> str:
        """The kind and the settings that are not the usual ones: MultiHeadAttention(d_model=512, num_heads=8)."""
        settings = {name: getattr(self, name) for name in self._setting_names() if hasattr(self, name)}
        shown = (f"{name}={_shown(value)}" for name, value in settings.items() if not self._is_usual(name, value))
        return f"{type(self).__name__}({', '.join(shown)})"

    def parameters(self) -> dict[str, np.ndarray]:
        """Every array by its dotted name, in the order of definition: `attention.W_Q`, `blocks.0.norm.gamma`."""
        found: dict[str, np.ndarray] = {}
        for name, value in vars(self).items():
            for key, part in _numbered(name, value):
                if isinstance(part, Module):
                    found |= {f"{key}.{inner}": array for inner, array in part.parameters().items()}
                elif isinstance(part, np.ndarray):
                    found[key] = part
        return found

    @property
    def num_parameters(self) -> int:
        """How many numbers the parameters hold together."""
        return sum(array.size for array in self.parameters().values())

    def load_parameters(self, parameters: Mapping[str, ArrayLike]) -> None:
        """Take over copies of the given arrays, each in the type of the one it replaces.

        All names and shapes have to be right, or nothing changes and one error lists all that is wrong.
        """
        own = self.parameters()
        given = {name: checks.as_array(name, value) for name, value in parameters.items()}
        wrong = [
            _listed("missing", [name for name in own if name not in given]),
            _listed("unexpected", [name for name in given if name not in own]),
            _listed("misshapen", [_misfit(name, own[name], given[name]) for name in own if name in given]),
        ]
        if any(wrong):
            raise ValueError(f"the parameters do not fit this {type(self).__name__}: {'; '.join(filter(None, wrong))}")
        for name, array in own.items():
            _assign(self, name, given[name].astype(array.dtype))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write parameters, kind and settings to a safetensors file.

        The file appears whole or not at all: a crash half-way leaves what was at `path` before. A setting that is
        a function, such as `rope`, cannot be written; `load` asks for it again.
        """
        settings = self._settings()
        functions = [name for name, value in settings.items() if callable(value)]
        description = {
            "kind": type(self).__name__,
            "version": SETTINGS_VERSION,
            "settings": {name: _written(value) for name, value in settings.items() if name not in functions},
            "functions": functions,
        }
        # In row order: safetensors writes the memory of an array as it lies, whatever its strides say.
        arrays = {name: np.array(array, order="C") for name, array in self.parameters().items()}
        write_whole(Path(path), safetensors_bytes(arrays, {_METADATA_KEY: json.dumps(description)}))

    @classmethod
    def load(cls: type[SomeModule], path: str | os.PathLike[str], **changes: Any) -> SomeModule:
        """The object that was saved at `path`.

        `changes` replace settings of the file: `rope=...` gives back a function, which no file can hold, and
        `dtype=np.float64` widens what was saved in a narrower type.
        """
        path = Path(path)
        known = cls._setting_names()
        strange = [name for name in changes if name not in known]
        if strange:
            raise TypeError(f"{cls.__name__} has no setting {', '.join(strange)}; its settings are {', '.join(known)}")
        description, arrays = _read(path)
        kind, version = description["kind"], description["version"]
        if kind != cls.__name__:
            raise ValueError(f"{path} holds a {kind}, not a {cls.__name__}; load it with {kind}.load")
        unknown = [name for name in description["settings"] if name not in known]
        if version != SETTINGS_VERSION or unknown:
            raise ValueError(
                f"{path} has settings of version {version}{' with ' + ', '.join(unknown) if unknown else ''}, but this "
                f"{kind} reads version {SETTINGS_VERSION} with {', '.join(known)}; load it with the clearhead that "
                "wrote it, or save it again"
            )
        lost = [name for name in description["functions"] if name not in changes]
        if lost:
            raise ValueError(
                f"{path} was saved from a {kind} with a function as {' and '.join(lost)}, and a file cannot hold "
                f"functions; pass it again: {kind}.load(path, {', '.join(f'{name}=...' for name in lost)})"
            )
        module = cls(**description["settings"] | changes)
        module.load_parameters(arrays)
        return module

    @classmethod
    def _setting_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls).parameters if name != "seed"]

    def _is_usual(self, name: str, value: object) -> bool:
        """Whether a setting is what it would be without being given."""
        usual = inspect.signature(type(self)).parameters[name].default
        if usual is None and name in self.follows:
            usual = getattr(self, self.follows[name])
        return bool(usual is value or (usual is not inspect.Parameter.empty and value == usual))

    def _settings(self) -> dict[str, Any]:
        absent = [name for name in self._setting_names() if not hasattr(self, name)]
        if absent:
            raise TypeError(
                f"a {type(self).__name__} cannot be saved: its constructor takes {', '.join(absent)} but the object "
                "keeps no attribute of that name"
            )
        return {name: getattr(self, name) for name in self._setting_names()}


def generator(seed: int | np.random.Generator) -> np.random.Generator:
    """Where initial weights come from: the same seed always gives the same weights."""
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(checks.count("seed", seed, least=0))


def xavier_uniform(
    rng: np.random.Generator, d_in: int, d_out: int, dtype: DTypeLike
) -> Float[np.ndarray, "{d_in} {d_out}"]:
    """Uniform in ±√(6 / (d_in + d_out)), so that signals neither grow nor fade on their way through W.

    → W (d_in, d_out). Drawn in float64 and then rounded: a seed gives the same weights in every type.
    """
    bound = np.sqrt(6 / (d_in + d_out))
    return rng.uniform(-bound, bound, (d_in, d_out)).astype(dtype)


def float_type(dtype: DTypeLike) -> np.dtype[Any]:
    """The type weights are kept in: one of the four float types."""
    if isinstance(dtype, str) and dtype == "bfloat16":
        import ml_dtypes  # NumPy knows this name only once it is loaded

        dtype = ml_dtypes.bfloat16
    kind: np.dtype[Any] = np.dtype(dtype)
    if kind.name not in checks.FLOAT_TYPES:
        raise TypeError(f"dtype must be one of {', '.join(checks.FLOAT_TYPES)}, got {kind.name}")
    return kind


def rows_of_width(name: str, x: ArrayLike | Mask, d_model: int) -> np.ndarray:
    """x as a float array (…, n, d_model)."""
    if isinstance(x, Mask) or getattr(x, "dtype", None) == np.bool_:
        raise TypeError(f"{name} must be floats (…, n, {d_model}), got a mask; pass it by its name, mask=")
    array = checks.float_array(name, x, ndim=2)
    if array.shape[-1] != d_model:
        hint = " (is it a mask? pass it by its name, mask=)" if array.shape[-1] == array.shape[-2] else ""
        raise ValueError(
            f"{name} must be d_model = {d_model} wide, shape (…, n, {d_model}), got shape {array.shape}{hint}"
        )
    return array


def project(x: np.ndarray, W: ArrayLike, b: ArrayLike | None, name: str) -> np.ndarray:
    """x W + b, where errors call the two W_name and b_name.

    x (…, d_in)  W (d_in, d_out)  b (d_out,) or None → (…, d_out)
    """
    W = checks.as_array(f"W_{name}", W)
    if b is not None:
        b = checks.float_array(f"b_{name}", b)
        if b.shape != W.shape[1:]:
            raise ValueError(
                f"b_{name} must have shape {W.shape[1:]}, one number per column of W_{name}, got shape {b.shape}"
            )
    return linear(x, W, b, name=f"W_{name}")


def _numbered(name: str, value: object) -> list[tuple[str, object]]:
    """An attribute as one named part, or, if it is a list of layers, as one part per layer."""
    if not isinstance(value, list):
        return [(name, value)]
    for item in value:
        if not isinstance(item, Module):
            raise TypeError(
                f"{name} is a list holding a {type(item).__name__}; a list may hold layers only "
                f"(np.array makes an array of {name}, which counts as a parameter)"
            )
    return [(f"{name}.{index}", item) for index, item in enumerate(value)]


def _assign(module: Module, name: str, array: np.ndarray) -> None:
    *path, last = name.split(".")
    owner: Any = module
    for step in path:
        owner = owner[int(step)] if isinstance(owner, list) else getattr(owner, step)
    setattr(owner, last, array)


def _listed(problem: str, entries: list[str]) -> str:
    entries = list(filter(None, entries))
    return f"{problem}: {', '.join(entries)}" if entries else ""


def _misfit(name: str, own: np.ndarray, given: np.ndarray) -> str:
    if given.shape != own.shape:
        transposed = " (transposed? torch keeps weights as (out, in))" if given.shape == own.shape[::-1] else ""
        return f"{name} must be {own.shape}, got {given.shape}{transposed}"
    return "" if given.dtype.name in checks.FLOAT_TYPES else f"{name} must be floats, got {given.dtype.name}"


def _shown(value: object) -> str:
    return repr(value.name) if isinstance(value, np.dtype) else getattr(value, "__name__", repr(value))


def _written(value: Any) -> Any:
    """A setting as it is written into a file."""
    return value.name if isinstance(value, np.dtype) else value


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What `save` wrote: the description and the arrays."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; expected a safetensors file written by save")
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except SafetensorError as error:
        raise ValueError(f"{path} is not a safetensors file: {error}") from None
    if _METADATA_KEY not in metadata:
        raise ValueError(
            f"{path} was not written by save: its metadata names no kind and no settings (its arrays can still be "
            "read with safetensors.numpy.load_file and given to load_parameters)"
        )
    return json.loads(metadata[_METADATA_KEY]), arrays
