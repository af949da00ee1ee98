import numpy as np

import clearhead as ch
from clearhead import masks

n, d = 2048, 64
angles = np.arange(n)[:, None] / 10000 ** (np.arange(d // 2) / (d // 2))
place = 2 * np.concatenate([np.cos(angles), np.sin(angles)], axis=1)

view = ch.look(np.roll(place, 1, axis=0), place, mask=masks.causal())  # each looks at the one before
figure = view.plot("head", rows=slice(1000, 1024), cols=slice(992, 1024))
