import numpy as np

import clearhead as ch

tokens = ["나는", "오늘", "학교에", "간다"]  # I, today, to school, go
keys = np.eye(4)
queries = 4 * np.array([[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1], [1, 0, 1, 0]], float)

_, weights = ch.scaled_dot_product_attention(queries, keys, keys)
figure = ch.visualize_attention(weights, tokens)
