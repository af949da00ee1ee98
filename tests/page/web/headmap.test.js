// What is known of a head, with all its weights and without.

import assert from "node:assert/strict";
import { test } from "node:test";

import { encoded } from "../../../src/clearhead/page/web/codec.js";
import { HeadMap } from "../../../src/clearhead/page/web/headmap.js";

const WEIGHTS = new Float32Array([1, -1, -1, 0.25, 0.75, -1, 0.5, 0.125, 0.375]);
const STRIPS = [["entropy", new Float32Array(3)], ["received", new Float32Array(3)]];
const info = { low: 0.125, high: 1 };

const exact = new HeadMap({ n_q: 3, n_k: 3, by_q: 1, by_k: 1 }, info, new Map([["weights", WEIGHTS], ...STRIPS]));
const coarse = new HeadMap({ n_q: 4, n_k: 4, by_q: 2, by_k: 2 }, info, new Map([
  ["cells", encoded(new Float32Array([0.5, -1, 0.25, NaN]), 0.125, 1)],
  ["top_indices", new Uint16Array([0, 65535, 1, 0, 2, 0, 3, 2])],
  ["top_weights", new Float32Array([1, 0, 0.7, 0.3, 0.6, 0.2, 0.9, 0.05])],
  ...STRIPS,
]));

test("exact weights are what they are", () => {
  assert.deepEqual(exact.weight(1, 1), { value: 0.75, kind: "exact" });
  assert.deepEqual(exact.weight(0, 1), { value: 0, kind: "masked" });
});

test("ranks count from the strongest", () => {
  assert.deepEqual([0, 1, 2].map((k) => exact.rank(2, k)), [1, 3, 2]);
  assert.equal(coarse.rank(1, 0), 2);
  assert.equal(coarse.rank(1, 3), null);
});

test("masked keys are not counted among those that a query may see", () => {
  assert.deepEqual([0, 1, 2].map((q) => exact.visible(q)), [1, 2, 3]);
  assert.equal(coarse.visible(0), null);
});

test("a place is exact if it is among the strongest, else the mean of its cell", () => {
  const { value, kind } = coarse.weight(1, 1);
  assert.equal(kind, "exact");
  assert.ok(Math.abs(value - 0.7) < 1e-6);
  const mean = coarse.weight(0, 1);
  assert.equal(mean.kind, "mean");
  assert.ok(Math.abs(mean.value / 0.5 - 1) < 0.03);
  assert.equal(coarse.weight(0, 3).kind, "masked");
  assert.equal(coarse.weight(2, 3).kind, "nan");
});

test("rows and columns have 0 where masked", () => {
  assert.deepEqual([...exact.row(1)], [0.25, 0.75, 0]);
  assert.deepEqual([...exact.column(1)], [0, 0.75, 0.125]);
});

test("the strongest come first, and the mean of a cell is nobody's weight", () => {
  assert.deepEqual(exact.strongest(2, "from", 2).map(({ position }) => position), [0, 2]);
  assert.deepEqual(exact.strongest(0, "to", 2).map(({ position }) => position), [0, 2]);
  assert.deepEqual(coarse.strongest(3, "from", 8).map(({ position }) => position), [3, 2]);
  assert.deepEqual(coarse.strongest(0, "to", 8).map(({ position }) => position), [0, 1, 2]);
});

test("the largest weight can leave out the first key", () => {
  assert.ok(Math.abs(exact.largest(false) - 1) < 1e-9);
  assert.ok(Math.abs(exact.largest(true) / 0.75 - 1) < 0.03);
});
