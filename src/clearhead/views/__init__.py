"""Seeing attention: views, what heads do, and reading aids, at lengths where the matrix could never be stored."""

from clearhead.views.averages import Average, average
from clearhead.views.patterns import Patterns
from clearhead.views.rollouts import ApproximateRollout, flow, pooled_rollout, rollout
from clearhead.views.view import TopK, View, look

__all__ = [
    "ApproximateRollout",
    "Average",
    "Patterns",
    "TopK",
    "View",
    "average",
    "flow",
    "look",
    "pooled_rollout",
    "rollout",
]
