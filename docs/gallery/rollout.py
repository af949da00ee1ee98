import numpy as np

import clearhead as ch

seen = ch.Translator.load().attention("고양이가 쥐를 잡았다")
n = len(seen.source)
shares = np.eye(n)
for heads in seen.encoder:  # half of each position passes attention by, on the residual connection
    shares = (0.5 * np.eye(n) + 0.5 * heads.mean(axis=0)) @ shares
figure = ch.visualize_rollout(shares, seen.source)
