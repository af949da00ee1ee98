"""Blocks of numbers from every rank to every rank, in one collective operation.

A message is made of blocks of any types, laid one behind another as bytes, each at a multiple of 8 so that it can be
read where it lies. Both sides know the shapes, so nothing but numbers is sent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.distributed as dist

ALIGNED = 8  # bytes, the widest number there is


class Block(NamedTuple):
    """The shape and the type of a block."""

    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def bytes(self) -> int:
        """What it takes in a message."""
        return -(-math.prod(self.shape) * self.dtype.itemsize // ALIGNED) * ALIGNED


def block_of(x: torch.Tensor) -> Block:
    return Block(tuple(x.shape), x.dtype)


def message_bytes(blocks: Sequence[Block]) -> int:
    return sum(block.bytes for block in blocks)


def exchange(
    sent: Sequence[Sequence[torch.Tensor]],
    expected: Sequence[Sequence[Block]],
    group: dist.ProcessGroup | None,
    device: torch.device,
) -> list[list[torch.Tensor]]:
    """Send each rank its blocks, and get those that each rank has for us, which share one piece of memory.

    What a rank has for itself is not sent: it comes back as it is.
    """
    here = dist.get_rank(group)
    own = list(sent[here])
    sent = [() if p == here else blocks for p, blocks in enumerate(sent)]
    expected = [() if p == here else blocks for p, blocks in enumerate(expected)]
    out = [message_bytes([block_of(x) for x in blocks]) for blocks in sent]
    into = [message_bytes(blocks) for blocks in expected]
    packed = torch.zeros(sum(out), dtype=torch.uint8, device=device)  # zeros, as blocks may end in a few spare bytes
    for x, place in zip((x for blocks in sent for x in blocks), _places([*map(block_of, _flat(sent))]), strict=True):
        packed[place : place + x.numel() * x.dtype.itemsize].view(x.dtype).view(x.shape).copy_(x)
    received = torch.empty(sum(into), dtype=torch.uint8, device=device)
    dist.all_to_all_single(received, packed, into, out, group=group)
    places = iter(_places([block for blocks in expected for block in blocks]))
    found = [[_read(received, next(places), block) for block in blocks] for blocks in expected]
    return [own if p == here else blocks for p, blocks in enumerate(found)]


def _flat(sent: Sequence[Sequence[torch.Tensor]]) -> list[torch.Tensor]:
    return [x for blocks in sent for x in blocks]


def _places(blocks: Sequence[Block]) -> list[int]:
    """Where blocks begin that lie one behind another."""
    places, end = [], 0
    for block in blocks:
        places.append(end)
        end += block.bytes
    return places


def _read(received: torch.Tensor, place: int, block: Block) -> torch.Tensor:
    taken = math.prod(block.shape) * block.dtype.itemsize
    return received[place : place + taken].view(block.dtype).view(block.shape)
