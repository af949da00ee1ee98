"""Attention as pictures: heat maps with their tokens, and one patch's attention laid over its image.

Everything is drawn on figures that belong to nobody: no pyplot, no rcParams, no window.
"""

from clearhead.figures.heatmap import visualize_attention
from clearhead.figures.image import visualize_patch_attention

__all__ = ["visualize_attention", "visualize_patch_attention"]
