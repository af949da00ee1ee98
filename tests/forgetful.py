"""A memory of calls that forgets everything at once."""

from __future__ import annotations

from clearhead.kernels.remembering import Remembered


class Forgetful(Remembered):
    """What is remembered, which is forgotten together with what relatives can be made of."""

    def __init__(self, most):
        super().__init__(most)
        self.relatives = Remembered(most)

    def forget(self):
        super().forget()
        self.relatives.forget()
