"""Attention as pictures: heat maps with their tokens, whole models at a glance, lines, and attention over an image.

Everything is drawn on figures that belong to nobody: no pyplot, no rcParams, no window until one is asked for.
"""

from clearhead.figures.heatmap import visualize_attention, visualize_cross_attention, visualize_head
from clearhead.figures.image import visualize_patch_attention
from clearhead.figures.layers import visualize_layers
from clearhead.figures.lines import visualize_lines
from clearhead.figures.plot import plot
from clearhead.figures.rollouts import visualize_rollout

__all__ = [
    "plot",
    "visualize_attention",
    "visualize_cross_attention",
    "visualize_head",
    "visualize_layers",
    "visualize_lines",
    "visualize_patch_attention",
    "visualize_rollout",
]
