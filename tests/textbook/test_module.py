from __future__ import annotations

import inspect
import json
import os

import ml_dtypes
import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from clearhead.textbook import module as module_file
from clearhead.textbook.decoder import DecoderBlock
from clearhead.textbook.encoder import EncoderBlock
from clearhead.textbook.feed_forward import FeedForward
from clearhead.textbook.module import Module, float_type, generator, project, rows_of_width, xavier_uniform
from clearhead.textbook.multi_head import KeyValueCache, MultiHeadAttention
from clearhead.textbook.norms import LayerNorm, RMSNorm
from clearhead.textbook.rope import rope
from clearhead.textbook.transformer import Transformer


class Scale(Module):
    def __init__(self, size: int, *, dtype="float64"):
        self.size, self.dtype = size, float_type(dtype)
        self.factor = np.full(size, 2.0, self.dtype)

    def forward(self, x):
        return x * self.factor


class Pair(Module):
    """A layer with every kind of attribute: settings, arrays, a layer, a list of layers, nothing."""

    def __init__(self, size: int, function=None):
        self.size, self.function = size, function
        self.before = np.zeros((size, 3))
        self.layers = [Scale(size), Scale(size + 2)]
        self.after = Scale(7)
        self.absent = None


def double(x):
    return 2 * x


def rewritten(path, **changes):
    """The file at `path` with another description, as a later or broken version might write it."""
    with safe_open(path, framework="np") as file:
        description = json.loads(file.metadata()["clearhead"]) | changes
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    save_file(arrays, path, {"clearhead": json.dumps(description)})


def test_parameters_have_dotted_names_in_order_of_definition():
    pair = Pair(5)
    assert list(pair.parameters()) == ["before", "layers.0.factor", "layers.1.factor", "after.factor"]
    assert pair.parameters()["layers.1.factor"] is pair.layers[1].factor
    assert pair.num_parameters == 5 * 3 + 5 + 7 + 7


def test_calling_is_forward():
    assert Scale(3)(np.ones(3)).tolist() == [2, 2, 2]


def test_assigned_arrays_count():
    scale = Scale(5)
    scale.factor = np.zeros(11)
    assert scale.num_parameters == 11


def test_a_list_of_numbers_is_not_a_parameter(unchecked):
    scale = Scale(2)
    scale.factor = [1.0, 2.0]
    with pytest.raises(TypeError, match=r"factor is a list holding a float; a list may hold layers only \(np.array "):
        scale.parameters()


def test_loaded_parameters_are_copies_in_the_own_type(rng):
    scale = Scale(5, dtype="float32")
    given = rng.normal(size=5)
    scale.load_parameters({"factor": given})
    assert scale.factor.dtype == np.float32
    np.testing.assert_array_equal(scale.factor, given.astype(np.float32))
    wide = Scale(5)
    wide.load_parameters({"factor": given})
    given[0] = 100
    assert wide.factor[0] != 100


def test_loading_reaches_into_lists():
    pair = Pair(2)
    pair.load_parameters({name: np.full(array.shape, 3.0) for name, array in pair.parameters().items()})
    assert all((array == 3).all() for array in pair.parameters().values())
    assert pair.layers[1](np.ones(4)).tolist() == [3, 3, 3, 3]


def test_all_that_is_wrong_is_in_one_error_and_nothing_changes(unchecked):
    pair = Pair(5)
    before = {name: array.copy() for name, array in pair.parameters().items()}
    wrong = {
        "before": np.ones((3, 5)),
        "layers.0.factor": np.ones(2),
        "after.factor": np.ones(7, int),
        "after.other": np.ones(1),
    }
    with pytest.raises(ValueError, match="the parameters do not fit this Pair") as caught:
        pair.load_parameters(wrong)
    assert str(caught.value) == (
        "the parameters do not fit this Pair: missing: layers.1.factor; unexpected: after.other; misshapen: before "
        "must be (5, 3), got (3, 5) (transposed? torch keeps weights as (out, in)), layers.0.factor must be (5,), got "
        "(2,), after.factor must be floats, got int64"
    )
    for name, array in pair.parameters().items():
        np.testing.assert_array_equal(array, before[name])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_save_and_load(tmp_path, rng, dtype):
    layer = MultiHeadAttention(21, 3, num_kv_heads=1, bias=False, seed=5, dtype=dtype)
    layer.W_V = layer.W_V[::-1]  # a view with negative strides must not be written as it lies in memory
    layer.save(tmp_path / "layer.safetensors")
    again = MultiHeadAttention.load(str(tmp_path / "layer.safetensors"))
    assert (again.d_model, again.num_heads, again.num_kv_heads, again.bias) == (21, 3, 1, False)
    assert again.dtype == layer.dtype
    assert list(again.parameters()) == list(layer.parameters())
    for name, array in layer.parameters().items():
        assert again.parameters()[name].dtype == array.dtype
        np.testing.assert_array_equal(again.parameters()[name], array)
    X = rng.normal(size=(5, 21))
    np.testing.assert_array_equal(again(X)[0], layer(X)[0])


def test_transposed_weights_are_saved_as_they_read(tmp_path, rng):
    layer = FeedForward(5, 5)
    layer.W_1 = rng.normal(size=(5, 5)).T
    layer.save(tmp_path / "layer.safetensors")
    np.testing.assert_array_equal(FeedForward.load(tmp_path / "layer.safetensors").W_1, layer.W_1)


def test_the_same_object_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        FeedForward(3, 7, seed=2).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_metadata_says_kind_and_settings(tmp_path):
    LayerNorm(7, eps=0.25, dtype=np.float32).save(tmp_path / "norm")
    with safe_open(tmp_path / "norm", framework="np") as file:
        description = json.loads(file.metadata()["clearhead"])
    assert description == {
        "kind": "LayerNorm",
        "version": 1,
        "settings": {"d_model": 7, "eps": 0.25, "bias": True, "dtype": "float32"},
        "functions": [],
    }


def test_settings_can_be_changed_while_loading(tmp_path):
    FeedForward(3, 5, dtype=np.float16).save(tmp_path / "layer")
    wide = FeedForward.load(tmp_path / "layer", dtype=np.float64)
    np.testing.assert_array_equal(wide.W_1, FeedForward(3, 5).W_1.astype(np.float16))
    assert wide.W_1.dtype == np.float64


def test_functions_are_asked_for_again(tmp_path, unchecked):
    Pair(3, function=double).save(tmp_path / "pair")
    with pytest.raises(ValueError, match=r"with a function as function, and a file cannot hold functions; pass it aga"):
        Pair.load(tmp_path / "pair")
    assert Pair.load(tmp_path / "pair", function=double).function is double


def test_saving_replaces_whole_files_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "layer"
    Scale(3).save(path)
    before = path.read_bytes()

    def fail(descriptor):
        raise OSError("disk full")

    monkeypatch.setattr(module_file.os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        Scale(5).save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["layer"]


def test_saved_files_have_the_usual_permissions(tmp_path):
    Scale(3).save(tmp_path / "layer")
    (tmp_path / "plain").write_bytes(b"")
    assert (tmp_path / "layer").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_load_errors(tmp_path, unchecked):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*nowhere; expected a safetensors file written by"):
        Scale.load(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        Scale.load(tmp_path)
    (tmp_path / "text").write_text("not at all a safetensors file, but long enough to be one")
    with pytest.raises(ValueError, match=r"text is not a safetensors file: "):
        Scale.load(tmp_path / "text")
    save_file({"factor": np.ones(3)}, tmp_path / "bare")
    with pytest.raises(ValueError, match=r"bare was not written by save: its metadata names no kind and no settings"):
        Scale.load(tmp_path / "bare")

    path = tmp_path / "scale"
    Scale(3).save(path)
    with pytest.raises(ValueError, match=r"scale holds a Scale, not a LayerNorm; load it with Scale.load"):
        LayerNorm.load(path)
    with pytest.raises(TypeError, match="Scale has no setting colour; its settings are size, dtype"):
        Scale.load(path, colour="red")
    rewritten(path, version=2)
    with pytest.raises(
        ValueError, match=r"has settings of version 2, but this Scale reads version 1 with size, dtype; l"
    ):
        Scale.load(path)
    rewritten(path, version=1, settings={"size": 3, "dtype": "float64", "colour": "red"})
    with pytest.raises(
        ValueError, match=r"has settings of version 1 with colour, but this Scale reads version 1 with s"
    ):
        Scale.load(path)
    rewritten(path, version=1, settings={"size": 5, "dtype": "float64"})
    with pytest.raises(ValueError, match=r"misshapen: factor must be \(5,\), got \(3,\)"):
        Scale.load(path)


def test_a_setting_that_was_not_kept_cannot_be_saved(tmp_path, unchecked):
    class Forgetful(Module):
        def __init__(self, size: int):
            pass

    with pytest.raises(
        TypeError, match="a Forgetful cannot be saved: its constructor takes size but the object keeps n"
    ):
        Forgetful(3).save(tmp_path / "layer")


def test_seeds():
    first, second = (xavier_uniform(generator(7), 3, 5, np.float64) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert (xavier_uniform(generator(8), 3, 5, np.float64) != first).all()
    rng = np.random.default_rng(7)
    assert generator(rng) is rng


def test_a_seed_gives_the_same_weights_in_every_type():
    wide = xavier_uniform(generator(7), 3, 5, np.float64)
    np.testing.assert_array_equal(xavier_uniform(generator(7), 3, 5, np.float16), wide.astype(np.float16))


def test_xavier_uniform_fills_its_interval():
    W = xavier_uniform(generator(0), 300, 500, np.float64)
    bound = np.sqrt(6 / 800)
    assert 0.99 * bound < W.max() < bound
    assert -bound < W.min() < -0.99 * bound
    np.testing.assert_allclose(W.std(), bound / np.sqrt(3), rtol=0.01)


def test_seed_errors(unchecked):
    with pytest.raises(ValueError, match="seed must be at least 0, got -1"):
        generator(-1)
    with pytest.raises(TypeError, match="seed must be a whole number, got None"):
        generator(None)


def test_float_type():
    assert float_type(np.float16) == np.float16
    assert float_type("bfloat16") == float_type(ml_dtypes.bfloat16) == ml_dtypes.bfloat16
    with pytest.raises(TypeError, match="dtype must be one of float16, bfloat16, float32, float64, got int32"):
        float_type(np.int32)


def test_project_names_its_arguments(unchecked):
    x, W = np.ones((2, 3)), np.ones((3, 5))
    with pytest.raises(ValueError, match=r"W_K must have shape \(d_in, d_out\) with d_in = 3"):
        project(x, W.T, None, "K")
    with pytest.raises(ValueError, match=r"b_K must have shape \(5,\), one number per column of W_K, got shape \(1,\)"):
        project(x, W, np.ones(1), "K")
    with pytest.raises(TypeError, match="b_K must be float16"):
        project(x, W, np.ones(5, int), "K")


def test_rows_of_width(unchecked):
    with pytest.raises(ValueError, match=r"x must be d_model = 7 wide, shape \(…, n, 7\), got shape \(7, 5\)"):
        rows_of_width("x", np.ones((7, 5)), 7)
    with pytest.raises(ValueError, match=r"x needs at least 2 dimensions, got shape \(7,\)"):
        rows_of_width("x", np.ones(7), 7)
    with pytest.raises(TypeError, match="x must be float16, bfloat16, float32 or float64, got int64"):
        rows_of_width("x", np.ones((2, 7), int), 7)


LAYERS = {
    "MultiHeadAttention(d_model=512, num_heads=8)": MultiHeadAttention(512, 8, seed=3),
    "MultiHeadAttention(d_model=12, num_heads=6, num_kv_heads=2, bias=False, rope=rope, dtype='float32')": (
        MultiHeadAttention(12, 6, num_kv_heads=2, bias=False, rope=rope, dtype=np.float32)
    ),
    "EncoderBlock(d_model=12, num_heads=3, d_ff=7, norm='rms')": EncoderBlock(12, 3, 7, norm="rms"),
    "DecoderBlock(d_model=12, num_heads=3, d_ff=7, norm_first=True)": DecoderBlock(12, 3, 7, norm_first=True),
    "FeedForward(d_model=12, d_ff=7, activation='gelu')": FeedForward(12, 7, activation="gelu"),
    "LayerNorm(d_model=12)": LayerNorm(12),
    "RMSNorm(d_model=12, eps=1e-06)": RMSNorm(12, eps=1e-6),
    "Transformer(source_vocab=7, target_vocab=5, d_model=12, num_heads=3, num_layers=2, d_ff=7)": (
        Transformer(7, 5, d_model=12, num_heads=3, num_layers=2, d_ff=7)
    ),
}


class TestShown:
    @pytest.mark.parametrize("text", LAYERS)
    def test_a_layer_prints_as_the_call_that_makes_it(self, text):
        assert repr(LAYERS[text]) == text

    @pytest.mark.parametrize("text", LAYERS)
    def test_what_is_printed_makes_the_same_layer(self, text):
        made = eval(text)
        assert repr(made) == text
        assert [x.shape for x in made.parameters().values()] == [x.shape for x in LAYERS[text].parameters().values()]

    def test_a_layer_that_keeps_no_settings_prints_too(self):
        class Bare(Module):
            def __init__(self, size: int):
                self.array = np.zeros(size)

        assert repr(Bare(3)) == "Bare()"

    def test_a_cache(self):
        cache = KeyValueCache()
        MultiHeadAttention(12, 3)(np.ones((5, 12)), cache=cache)
        assert repr(cache) == "<KeyValueCache: 5 keys>"
        assert repr(KeyValueCache()) == "<KeyValueCache: 0 keys>"


class TestSignatures:
    @pytest.mark.parametrize("text", LAYERS)
    def test_a_call_takes_what_forward_takes(self, text):
        layer = LAYERS[text]
        assert inspect.signature(layer) == inspect.signature(layer.forward)
        assert type(layer).__call__ is type(layer).forward, "as type checkers read it"
        kinds = {parameter.kind for parameter in inspect.signature(layer).parameters.values()}
        assert not kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}

    def test_a_layer_with_a_forward_of_its_own_calls_that(self):
        class Doubled(LayerNorm):
            def forward(self, x):
                return 2 * super().forward(x)

        x = np.random.default_rng(1).standard_normal((5, 7))
        np.testing.assert_array_equal(Doubled(7)(x), 2 * LayerNorm(7)(x))
        assert list(inspect.signature(Doubled(7)).parameters) == ["x"]
