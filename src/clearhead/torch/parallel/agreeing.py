"""What ranks tell each other before they work: so that a mistake of one is an error on all of them, and no hang.

Ranks that pass arguments which do not belong together would otherwise wait for messages that never come.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch.distributed as dist

from clearhead import masks

Found = TypeVar("Found")


def member(group: dist.ProcessGroup | None) -> tuple[int, int]:
    """This process's rank in a group, and how many there are."""
    if not dist.is_available() or not dist.is_initialized():
        raise ValueError(
            "there is no process group: start the program with torchrun, and call "
            "torch.distributed.init_process_group('gloo') first"
        )
    rank = dist.get_rank(group)
    if rank < 0:
        raise ValueError("this process is not in the group; only its members may call")
    return rank, dist.get_world_size(group)


def gathered(group: dist.ProcessGroup | None, own: Any) -> list[Any]:
    """What every rank of a group says, in the order of ranks."""
    said: list[Any] = [None] * member(group)[1]
    dist.all_gather_object(said, own, group=group)
    return said


class Answer(NamedTuple):
    """What a rank found, or why it could not."""

    found: Any
    error: Exception | None


def told(group: dist.ProcessGroup | None, find: Callable[[], Found]) -> list[Found]:
    """What every rank finds. If one cannot, the same ValueError is raised on all of them."""
    member(group)
    try:
        own = Answer(find(), None)
    except Exception as error:
        own = Answer(None, error)
    said = gathered(group, Answer(own.found, None if own.error is None else ValueError(_shown(own.error))))
    failed = [(rank, answer.error) for rank, answer in enumerate(said) if answer.error is not None]
    if not failed:
        return [answer.found for answer in said]
    reasons = [str(error) for _, error in failed]
    if len(failed) == len(said) and len(set(reasons)) == 1 and own.error is not None:
        raise own.error  # everybody's mistake reads as it does on one machine
    rank, reason = failed[0]
    raise ValueError(f"rank {rank} could not take part: {reason}") from own.error


def _shown(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def must_agree(said: Sequence[dict[str, Any]]) -> None:
    """Every rank says the same of everything, else the same ValueError on all of them."""
    for name in said[0]:
        for rank, other in enumerate(said):
            if other[name] != said[0][name]:
                raise ValueError(
                    f"the ranks do not agree on {name}: rank 0 has {said[0][name]}, rank {rank} has {other[name]}; "
                    "every rank passes its shard of one and the same call"
                )


def fingerprint(mask: Any) -> str:
    """A mask as it prints, and a digest of all that it was made of: numbers, arrays, other masks, a function's name."""
    digest = hashlib.blake2b(digest_size=8)
    _add(digest, mask)
    return f"{mask!r} ({digest.hexdigest()})" if isinstance(mask, masks.Mask) else str(mask)


def _add(digest: Any, part: Any) -> None:
    if isinstance(part, np.ndarray):
        digest.update(f"{part.dtype} {part.shape}".encode())
        digest.update(np.ascontiguousarray(part).view(np.uint8).data)
    elif dataclasses.is_dataclass(part):
        digest.update(type(part).__name__.encode())
        for field in dataclasses.fields(part):
            _add(digest, getattr(part, field.name))
    elif callable(part):
        digest.update(getattr(part, "__qualname__", type(part).__name__).encode())
    else:
        digest.update(repr(part).encode())
