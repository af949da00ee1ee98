"""Seeing attention: views, what heads do, and reading aids, at lengths where the matrix could never be stored."""

from clearhead.views.view import TopK, View, look

__all__ = ["TopK", "View", "look"]
