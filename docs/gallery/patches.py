import numpy as np

import clearhead as ch

down, across = np.mgrid[:96, :144]
image = np.full((96, 144, 3), 0.93)  # paper, with three suns and a sea
for row, column in ((24, 24), (40, 72), (24, 120)):
    image[(down - row) ** 2 + (across - column) ** 2 < 14**2] = (0.90, 0.45, 0.10)
image[down > 70] = (0.15, 0.45, 0.70)

patches = ch.cut_patches(image, 6, channels=True)  # 16 × 24 patches of 6 × 6 × 3 numbers
colours = patches.reshape(len(patches), -1, 3).mean(axis=1) - image.mean(axis=(0, 1))
_, weights = ch.scaled_dot_product_attention(colours, colours, colours, scale=12.0)

figure = ch.visualize_patch_attention(image, weights, patch=(4, 4), patch_size=6)
