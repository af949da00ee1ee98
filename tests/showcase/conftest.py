"""Pages show figures, which are held to here what they are held to everywhere."""

from __future__ import annotations

from ..figures.conftest import corners, texts, tidy

__all__ = ["corners", "texts", "tidy"]
