import numpy as np

import clearhead as ch
from clearhead import masks

n = 2048
position, rng = np.arange(n), np.random.default_rng(0)


def wave(length):  # one turn in so many positions
    angle = 2 * np.pi * position / length
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


near = 3 * np.hstack([wave(5000), wave(700)])  # those close by, and a little those a turn away
beat = 3 * np.hstack([wave(128), wave(128)])  # every 128th
chapter = 5 * np.eye(4)[np.searchsorted([300, 900, 1500], position, side="right")]  # those of the same chapter
marks = np.where(rng.random(n) < 0.01, 6.0, 0.0)[:, None] * np.ones(4)  # a few that everybody looks at

q = np.stack([near, beat, chapter, np.ones((n, 4))])
k = np.stack([near, beat, chapter, marks])
view = ch.look(q, k, mask=masks.causal())
figure = view.plot(scale="row", reduce="max")
