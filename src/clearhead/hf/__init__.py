"""clearhead inside transformers: `import clearhead.hf` registers an attention and a mask function named "clearhead".

    import clearhead.hf

    model.set_attn_implementation("clearhead")      # any model of transformers' attention interface

From then on the model's attention runs on these kernels, forwards, backwards and in `generate`, and its masks are said
in runs of keys, so that nothing of n × n numbers is made unless the model makes it itself.
"""

from typing import TYPE_CHECKING

try:
    import transformers as _transformers  # noqa: F401
except ModuleNotFoundError as error:
    from clearhead.advice import install as _install

    raise ModuleNotFoundError(f"clearhead.hf needs transformers 5: {_install('hf')}") from error

from clearhead import names
from clearhead.hf.borrowing import borrowed, on_the_interface
from clearhead.hf.interface import NAME, interface_attention, register
from clearhead.hf.structures import MaskTensor, interface_mask

register()

__all__ = ["NAME", "MaskTensor", "borrowed", "interface_attention", "interface_mask", "on_the_interface"]


if not TYPE_CHECKING:  # a type checker would take it that every name is there

    def __getattr__(name):
        raise names.no_such_name(__name__, name, __all__)
