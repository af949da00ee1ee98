"""Text as it is read: characters as readers count them, words, the places of tokens in a text, and their labels.

Figures, views and translators all name positions by their text; what a character, a word and a label are is said here
once. Nothing here knows of attention.
"""

from clearhead.text.labels import labels_from_offsets, token_labels
from clearhead.text.words import group_labels, word_groups

__all__ = ["group_labels", "labels_from_offsets", "token_labels", "word_groups"]
