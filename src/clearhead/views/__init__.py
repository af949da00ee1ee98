"""Seeing attention: views, what heads do, and reading aids, at lengths where the matrix could never be stored."""

from clearhead.text import group_labels, labels_from_offsets, token_labels, word_groups
from clearhead.views.averages import Average, average
from clearhead.views.distances import Distances
from clearhead.views.patterns import Patterns
from clearhead.views.rollouts import ApproximateRollout, flow, pooled_rollout, rollout
from clearhead.views.view import TopK, View, look

__all__ = [
    "ApproximateRollout",
    "Average",
    "Distances",
    "Patterns",
    "TopK",
    "View",
    "average",
    "flow",
    "group_labels",
    "labels_from_offsets",
    "look",
    "pooled_rollout",
    "rollout",
    "token_labels",
    "word_groups",
]
