"""Rules of transformers, read as masks, allow what the rules allow; what is not recognised is asked."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import masking_utils as hf

from clearhead import masks
from clearhead.hf import rules
from clearhead.hf.places import Place
from clearhead.hf.rules import Asked, read, recognised

GROUPS = torch.tensor([[-1, -1, 0, 0, 0, -1, 1, 1, -1, 2, 2, 2, -1], [0, 0, 1, 1, 1, 1, 2, 3, 3, 3, 3, 4, 4]])
PACKED = torch.tensor([[0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 3], [0, 1, 2, 3, 4, 4, 4, 5, 5, 5, 5, 5, 5]])
REAL = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]]).bool()
GAPS = REAL & (torch.arange(13) % 4 != 2)

RULES = {
    "causal": hf.causal_mask_function,
    "everything": hf.bidirectional_mask_function,
    "window": hf.sliding_window_causal_mask_function(3),
    "window alone": hf.sliding_window_overlay(4),
    "window of one": hf.sliding_window_causal_mask_function(1),
    "window of none": hf.sliding_window_overlay(0),
    "window both ways": hf.sliding_window_bidirectional_mask_function(2),
    "chunks": hf.chunked_causal_mask_function(4, torch.tensor([0, 3])),
    "packed": hf.and_masks(hf.causal_mask_function, hf.packed_sequence_mask_function(PACKED)),
    "images": hf.or_masks(hf.causal_mask_function, hf.blockwise_overlay(GROUPS)),
    "images in a window": hf.or_masks(hf.sliding_window_causal_mask_function(3), hf.blockwise_overlay(GROUPS)),
    "padding": hf.and_masks(hf.causal_mask_function, hf.padding_mask_function(REAL)),
    "padding with gaps": hf.padding_mask_function(GAPS),
    "moved": hf.add_offsets_to_mask_function(hf.causal_mask_function, 2, 1),
}
PLACES = {
    "whole": Place(13, 13),
    "one step": Place(1, 9, first_query=8),
    "a few steps": Place(3, 9, first_query=6),
    "static": Place(4, 13, first_query=5),
    "one static step": Place(1, 13, first_query=5),
    "sliding": Place(2, 6, first_query=9, first_key=5),
    "one sliding step": Place(1, 4, first_query=11, first_key=8),
}


def written(rule, place):
    """What transformers writes out, (b, n_q, n_k)."""
    mask = hf.sdpa_mask(2, place.n_q, place.n_k, place.first_query, place.first_key, rule, allow_is_causal_skip=False)
    return mask[:, 0].numpy()


def as_array(mask, place):
    if mask is None:
        return np.ones((2, place.n_q, place.n_k), bool)
    return mask.array(place.n_q, place.n_k, batch_shape=(2,))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", RULES)
def test_a_rule_read_is_the_rule_written_out(name, place):
    if name == "moved" and place != "whole":
        pytest.skip("offsets are added once")
    rule, place = RULES[name], PLACES[place]
    mask = read(rule, place)
    np.testing.assert_array_equal(as_array(mask, place), written(rule, place))
    sizes = masks.Sizes(place.n_q, place.n_k, (2,), 4)
    if mask is not None and name != "padding with gaps":
        runs = mask.ranges(sizes)
        assert runs is not None, "none of these is to be asked about every place"
        key = np.arange(place.n_k)[:, None]
        inside = ((key >= runs.low[..., None, :]) & (key < runs.high[..., None, :])).any(-3)
        inside = np.broadcast_to(inside, (2, 1, place.n_k, place.n_q))[:, 0].swapaxes(-1, -2)
        np.testing.assert_array_equal(inside, written(rule, place))


def test_one_step_of_decoding_needs_no_mask():
    assert read(hf.causal_mask_function, PLACES["one step"]) is None
    assert read(hf.causal_mask_function, PLACES["one static step"]) is not None


def test_queries_that_are_last_need_no_offset():
    """So that a call is known again when only the lengths have changed."""
    assert read(hf.causal_mask_function, Place(3, 9, first_query=6)) == masks.causal()
    assert read(hf.causal_mask_function, Place(4, 13, first_query=5)) == masks.causal(offset=5)


class TestRulesOfTheModelsOwn:
    def test_are_asked(self):
        def odd(batch, head, query, key):
            return (query + key + batch) % 3 != 1

        rule = hf.and_masks(hf.causal_mask_function, odd)
        for place in PLACES.values():
            mask = read(rule, place)
            assert isinstance(masks.parts(mask)[-1], Asked)
            np.testing.assert_array_equal(as_array(mask, place), written(rule, place))

    def test_number_by_number_where_they_look_tensors_up(self):
        def looked_up(batch, head, query, key):
            return GROUPS[batch][key] != GROUPS[batch][query]  # takes numbers, not arrays of them

        rule = hf.or_masks(looked_up, hf.sliding_window_overlay(2))
        for place in PLACES.values():
            mask = read(rule, place, index_by_index=True)
            expected = hf.sdpa_mask(
                2,
                place.n_q,
                place.n_k,
                place.first_query,
                place.first_key,
                rule,
                allow_is_causal_skip=False,
                use_vmap=True,
            )
            np.testing.assert_array_equal(as_array(mask, place), expected[:, 0].numpy())

    def test_groups_in_pieces_are_not_taken_for_runs(self):
        ids = torch.tensor([[0, 1, 0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2]] * 2)
        rule = hf.packed_sequence_mask_function(ids)
        mask = read(rule, PLACES["whole"])
        assert mask.ranges(masks.Sizes(13, 13, (2,), 1)) is None
        np.testing.assert_array_equal(as_array(mask, PLACES["whole"]), written(rule, PLACES["whole"]))


class TestRecognising:
    def test_all_of_this_versions_rules_are(self):
        assert recognised() == set(rules.READERS)

    def test_a_rule_that_means_something_else_is_asked(self, monkeypatch):
        """As if another version counted a window in another way."""

        def sliding_window_overlay(sliding_window):
            def inner_mask(batch_idx, head_idx, q_idx, kv_idx):
                return kv_idx >= q_idx - sliding_window

            return inner_mask

        sliding_window_overlay.__module__ = hf.__name__
        monkeypatch.setattr(hf, "sliding_window_overlay", sliding_window_overlay)
        recognised.cache_clear()
        try:
            assert recognised() == set(rules.READERS) - {"sliding_window_overlay"}
            assert isinstance(read(hf.sliding_window_overlay(3), PLACES["whole"]), Asked)
        finally:
            monkeypatch.undo()
            recognised.cache_clear()
