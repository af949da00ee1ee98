"""The translator: an encoder–decoder that is trained here, and watched while it aligns one language with another.

The data come first, each kind in a file of its own: dates, sentences of a small grammar, and pairs of your own.
They know nothing of models; the model knows nothing of languages. A vocabulary lies between the two.
"""
