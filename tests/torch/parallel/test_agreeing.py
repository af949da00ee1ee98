from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.torch.parallel.alone import group_of_one

from clearhead import masks
from clearhead.torch import parallel
from clearhead.torch.parallel.agreeing import fingerprint, must_agree, told


def test_without_a_group_the_way_to_one_is_told():
    q = torch.ones(3, 5, 2)
    with pytest.raises(ValueError, match=r"no process group: start the program with torchrun, and call torch\.distrib"):
        parallel.attention(q, q, q)


def test_masks_with_other_numbers_have_other_fingerprints():
    same = [masks.causal() & masks.documents(np.repeat([0, 1], 20)) for _ in range(2)]
    assert fingerprint(same[0]) == fingerprint(same[1])
    others = [
        masks.causal(),
        masks.causal(offset=0),
        masks.window(3),
        masks.window(3, 0),
        masks.documents(np.repeat([0, 1], 20)),
        masks.documents(np.repeat([0, 2], 20)),
        masks.array(np.eye(20, dtype=bool)),
        masks.array(np.eye(20, dtype=bool).T[::-1]),
        ~masks.causal(),
        None,
    ]
    assert len({fingerprint(mask) for mask in others}) == len(others)


def test_the_first_difference_is_told():
    with pytest.raises(
        ValueError, match=r"^the ranks do not agree on b: rank 0 has 1, rank 1 has 3; every rank passes"
    ):
        must_agree([{"a": 2, "b": 1}, {"a": 2, "b": 3}])


def test_an_error_of_everybody_is_raised_as_it_is():
    def fail() -> None:
        raise TypeError("not this")

    with group_of_one(), pytest.raises(TypeError, match=r"^not this$"):
        told(None, fail)


def test_who_is_not_in_the_group_is_told(four):
    found = four.ask("outsiders.call_with_a_group_of_two", ranks=[3])
    assert str(found[0]) == "this process is not in the group; only its members may call"
