# The public names of clearhead and where each lives. `__init__.py` reads this file to load them on first use.

from . import biases as biases, masks as masks, practice as practice, traces as traces, views as views
from .call import Part as Part
from .dispatch import (
    attention as attention,
    explain as explain,
    merge as merge,
)
from .figures import (
    visualize_attention as visualize_attention,
    visualize_cross_attention as visualize_cross_attention,
    visualize_head as visualize_head,
    visualize_layers as visualize_layers,
    visualize_lines as visualize_lines,
    visualize_patch_attention as visualize_patch_attention,
    visualize_rollout as visualize_rollout,
)
from .kernels.explanation import Explanation as Explanation
from .kernels.schedule import (
    get_num_threads as get_num_threads,
    set_num_threads as set_num_threads,
)
from .textbook import (
    MODELS as MODELS,
    DecoderBlock as DecoderBlock,
    EncoderBlock as EncoderBlock,
    FeedForward as FeedForward,
    KeyValueCache as KeyValueCache,
    LayerNorm as LayerNorm,
    ModelShape as ModelShape,
    MultiHeadAttention as MultiHeadAttention,
    RMSNorm as RMSNorm,
    Transformer as Transformer,
    add_positional_encoding as add_positional_encoding,
    alibi as alibi,
    alibi_slopes as alibi_slopes,
    apply_rope as apply_rope,
    attention_cost as attention_cost,
    attention_map as attention_map,
    attention_scores as attention_scores,
    attention_weights as attention_weights,
    beam as beam,
    causal_self_attention as causal_self_attention,
    compare_layers as compare_layers,
    create_causal_mask as create_causal_mask,
    create_padding_mask as create_padding_mask,
    cut_patches as cut_patches,
    dropout_mask as dropout_mask,
    dynamic_ntk_scaling as dynamic_ntk_scaling,
    embed_patches as embed_patches,
    flash_attention as flash_attention,
    greedy as greedy,
    image_attention as image_attention,
    join_patches as join_patches,
    layer_norm as layer_norm,
    linear_attention as linear_attention,
    linear_attention_weights as linear_attention_weights,
    linear_scaling as linear_scaling,
    llama3_scaling as llama3_scaling,
    log_sum_exp as log_sum_exp,
    longrope_scaling as longrope_scaling,
    mask_scores as mask_scores,
    memory_efficient_attention as memory_efficient_attention,
    mix_values as mix_values,
    model_cost as model_cost,
    ntk_scaling as ntk_scaling,
    patterns as patterns,
    positional_encoding as positional_encoding,
    proportional_scaling as proportional_scaling,
    recurrent_attention as recurrent_attention,
    relative_attention as relative_attention,
    rms_norm as rms_norm,
    rope as rope,
    rope_frequencies as rope_frequencies,
    rope_table as rope_table,
    scaled_dot_product_attention as scaled_dot_product_attention,
    self_attention as self_attention,
    softmax as softmax,
    t5_bias as t5_bias,
    t5_buckets as t5_buckets,
    validate_attention as validate_attention,
    yarn_scaling as yarn_scaling,
)
from .traces import (
    Trace as Trace,
    load_trace as load_trace,
    probe as probe,
    trace as trace,
)
from .translate.translator import Translator as Translator
from .views import (
    View as View,
    look as look,
)

__version__: str
