// The mean of heads: exact where all are, and no more than an estimate where some are not.

import assert from "node:assert/strict";
import { test } from "node:test";

import { averaged, mean } from "../../../src/clearhead/page/web/averaged.js";
import { encoded } from "../../../src/clearhead/page/web/codec.js";
import { HeadMap } from "../../../src/clearhead/page/web/headmap.js";

const layer = { n_q: 2, n_k: 3, by_q: 1, by_k: 1 };
const strips = [["entropy", new Float32Array([1, 2])], ["received", new Float32Array([3, 4, 5])]];
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a} is not ${b}`);

test("the mean of exact maps is exact", () => {
  const maps = [[0.5, 0.5, -1, 0.2, 0.3, 0.5], [1, -1, -1, 0, NaN, 1]].map(
    (weights) => new HeadMap(layer, { low: 1e-3, high: 1 }, new Map([["weights", new Float32Array(weights)], ...strips])),
  );
  const map = averaged(maps);
  assert.deepEqual(map.weight(0, 0), { value: 0.75, kind: "exact" });
  assert.deepEqual(map.weight(0, 1), { value: 0.25, kind: "exact" }); // masked in one head: no weight there
  assert.equal(map.weight(0, 2).kind, "masked");
  assert.equal(map.weight(1, 1).kind, "nan");
  near(map.entropy[0], -(0.75 * Math.log(0.75) + 0.25 * Math.log(0.25))); // of the mean, not the mean of theirs
  assert.equal(map.rank(0, 0), 1);
});

test("one head is its own mean", () => {
  const map = new HeadMap(layer, { low: 1e-3, high: 1 }, new Map([["weights", new Float32Array(6)], ...strips]));
  assert.equal(averaged([map]), map);
});

test("where heads know different keys, a mean is an estimate and says so", () => {
  const coarse = { n_q: 2, n_k: 4, by_q: 1, by_k: 2 };
  const head = (top, weights, cells) =>
    new HeadMap(coarse, { low: 1e-3, high: 1 }, new Map([
      ["cells", encoded(new Float32Array(cells), 1e-3, 1)], ["top_indices", new Uint16Array(top)], ["top_weights", new Float32Array(weights)], ...strips,
    ]));
  const map = averaged([head([0, 1], [0.8, 0.6], [0.45, 0.05, 0.4, 0.1]), head([0, 3], [0.4, 0.5], [0.3, 0.2, 0.1, 0.4])]);
  assert.equal(map.weight(0, 0).kind, "exact");
  near(map.weight(0, 0).value, 0.6);
  assert.equal(map.weight(1, 1).kind, "mean");
  assert.ok(Math.abs(map.weight(1, 1).value - (0.6 + 0.1) / 2) < 0.01);
  assert.equal(map.rank(0, 0), null);
  assert.deepEqual(map.strongest(0, "from", 1).map(({ position, exact }) => [position, exact]), [[0, true]]);
  assert.deepEqual(map.strongest(1, "from", 1).map(({ position, exact }) => [position, exact]), [[1, false]]);
  assert.ok(Math.abs(map.values[map.code(0, 0)] - 0.375) < 0.012);
});

test("means pass over what is masked in every array only", () => {
  assert.deepEqual([...mean([new Float32Array([-1, -1, 1]), new Float32Array([-1, 1, 3])])], [-1, 0.5, 2]);
});
