"""weights_by_hand, written otherwise."""

from __future__ import annotations

import numpy as np


def with_numpy():
    two, e = 2.0 ** np.arange(3), np.exp(np.arange(3))
    powers = 2.0 ** np.array([3, 1, 1, 0])
    heads = np.array([1, 2]) @ np.array([[0.5, 0.3], [0.5, 0.3]])
    return {
        "concatenated": heads,
        "head_2": heads[1],
        "head_1": heads[0],
        "mixture": powers @ [13, 0, 13, 26] / powers.sum(),
        "shares_shifted": two / two.sum(),
        "shares_of_e": e / e.sum(),
        "shares_of_two": two / two.sum(),
    }


def rounded_to_three_decimals():
    return {
        "shares_of_two": [0.143, 0.286, 0.571],
        "shares_of_e": [0.09, 0.245, 0.665],
        "shares_shifted": [0.143, 0.286, 0.571],
        "mixture": 12.0,
        "head_1": 1.5,
        "head_2": 0.9,
        "concatenated": [1.5, 0.9],
    }


RIGHT = {"weights_by_hand": (with_numpy, rounded_to_three_decimals)}
