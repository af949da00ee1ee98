"""greedy_decoding, written otherwise."""

from __future__ import annotations

import numpy as np


def by_recursion(step, start, end, max_length, given=()):
    if len(given) == max_length or (given and given[-1] == end):
        return list(given)
    return by_recursion(step, start, end, max_length, (*given, int(np.argmax(step([start, *given])))))


def as_an_array(step, start, end, max_length):
    words = np.empty(max_length + 1, int)
    words[0] = start
    for place in range(1, max_length + 1):
        words[place] = np.argmax(step(words[:place].tolist()))
        if words[place] == end:
            return words[1 : place + 1]
    return words[1:]


RIGHT = {"greedy_decoding": (by_recursion, as_an_array)}
