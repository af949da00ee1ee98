import numpy as np

import clearhead as ch

tokens = ["the", "cat", "that", "chased", "the", "mouse", "is", "asleep"]
x = np.random.default_rng(1).standard_normal((len(tokens), 16))
mask = ch.create_causal_mask(len(tokens))

_, weights = ch.scaled_dot_product_attention(x, x, x, mask, scale=0.15)
figure = ch.visualize_attention(weights, tokens, mask=mask)
