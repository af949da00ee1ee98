# The public names of clearhead and where each lives. `__init__.py` reads this file to load them on first use.

from .textbook import (
    attention_scores,
    attention_weights,
    causal_self_attention,
    create_causal_mask,
    create_padding_mask,
    dropout_mask,
    flash_attention,
    log_sum_exp,
    mask_scores,
    memory_efficient_attention,
    mix_values,
    scaled_dot_product_attention,
    self_attention,
    softmax,
)

__version__: str
