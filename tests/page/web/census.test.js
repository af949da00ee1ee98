// Layers of a census, and the same ones of another.

import assert from "node:assert/strict";
import { test } from "node:test";

import { layerMeant, sameIn, sameLayer } from "../../../src/clearhead/page/web/census_data.js";

const model = (stack, numbers, heads = 2) => ({ layers: numbers.map((number) => ({ name: stack.replace("*", number), heads, number, stack, label: `${number}` })) });

test("layers of one model are the same by their path, however many were counted", () => {
  const [all, some] = [model("layers.*.attn", [0, 1, 2, 3]), model("layers.*.attn", [2, 5])];
  assert.deepEqual([0, 1, 2, 3].map((layer) => sameLayer(all, some, layer)), [-1, -1, 0, -1]);
  assert.equal(sameIn(some, all, 0, 1), 5);
  assert.equal(sameIn(all, some, 2, 2), -1);
});

test("layers of models that name them otherwise are the same by their number", () => {
  const [one, other] = [model("h.*.attn", [0, 4, 5]), model("bert.layer.*.attention", [4, 5, 6], 3)];
  assert.deepEqual([0, 1, 2].map((layer) => sameLayer(one, other, layer)), [-1, 0, 1]);
  assert.equal(sameIn(one, other, 2, 1), 4);
});

test("of two layers with one number neither is taken for a third", () => {
  const two = { layers: [...model("h.*.near", [0]).layers, ...model("h.*.far", [0]).layers] };
  assert.equal(sameLayer(model("layers.*.attn", [0]), two, 0), -1);
  assert.equal(sameLayer(two, model("layers.*.attn", [0]), 1), -1);
  assert.equal(sameLayer(model("h.*.far", [0]), two, 0), 1);
});

test("an address means a layer by its path, that of the other model, or its number", () => {
  const [one, other] = [model("h.*.attn", [4, 5]), model("layer.*.attention", [5, 6])];
  assert.equal(layerMeant(one, [one, other], "h.5.attn"), 1);
  assert.equal(layerMeant(other, [one, other], "h.5.attn"), 0);
  assert.equal(layerMeant(one, [one, other], "layer.6.attention"), -1);
  assert.equal(layerMeant(one, [one, other], "5"), 1);
  assert.equal(layerMeant(one, [one, other], "0"), -1);
});
