// What one head has more of than another.

import assert from "node:assert/strict";
import { test } from "node:test";

import { encoded } from "../../../src/clearhead/page/web/codec.js";
import { DifferenceMap, signedCodes, signedValues } from "../../../src/clearhead/page/web/difference.js";
import { HeadMap } from "../../../src/clearhead/page/web/headmap.js";
import { colourAt, lookup, scaleOf, shareOf } from "../../../src/clearhead/page/web/palettes.js";

const layer = { n_q: 2, n_k: 3, by_q: 1, by_k: 1 };
const strips = [["entropy", new Float32Array(2)], ["received", new Float32Array(3)]];
const exact = (weights) => new HeadMap(layer, { low: 1e-3, high: 1 }, new Map([["weights", new Float32Array(weights)], ...strips]));

test("differences are exact, signed, and masked only where both are", () => {
  const map = new DifferenceMap(exact([0.5, -1, 0.25, NaN, 1, 0]), exact([0.25, -1, 0.75, 0, -1, 0]));
  assert.deepEqual(map.weight(0, 0), { value: 0.25, kind: "exact" });
  assert.equal(map.weight(0, 1).kind, "masked");
  assert.deepEqual(map.weight(0, 2), { value: -0.5, kind: "exact" });
  assert.equal(map.weight(1, 0).kind, "nan");
  assert.deepEqual(map.weight(1, 1), { value: 1, kind: "exact" });
  assert.deepEqual(map.extreme(true), { at: { q: 1, k: 1 }, value: 1 });
  assert.ok(Math.abs(map.largest(false) - 1) < 1e-9);
});

test("codes keep sign and size", () => {
  const values = [-0.8, -1e-3, 0, 1e-3, 0.4, 0.8];
  const table = signedValues(0.8);
  [...signedCodes(new Float32Array(values), 0.8)].forEach((code, i) => {
    assert.ok(Math.abs(table[code] - values[i]) <= 0.06 * Math.abs(values[i]), `${table[code]} ${values[i]}`);
  });
  assert.equal(table[signedCodes(new Float32Array([0]), 1)[0]], 0);
});

test("in coarse maps only what both know is exact", () => {
  const coarse = { n_q: 1, n_k: 4, by_q: 1, by_k: 2 };
  const head = (top, weights) => new HeadMap(coarse, { low: 1e-3, high: 1 }, new Map([["cells", encoded(new Float32Array([0.4, 0.1]), 1e-3, 1)], ["top_indices", new Uint16Array(top)], ["top_weights", new Float32Array(weights)], ...strips]));
  const map = new DifferenceMap(head([0, 1], [0.5, 0.25]), head([0, 3], [0.25, 0.5]));
  assert.deepEqual(map.weight(0, 0), { value: 0.25, kind: "exact" });
  assert.equal(map.weight(0, 1).kind, "mean");
  assert.deepEqual([...map.topIndices].filter((key) => key < 4), [0]);
});

test("no difference is the page's own colour, and sizes are told alike to both sides", () => {
  for (const kind of ["linear", "log"]) {
    const scale = { ...scaleOf(kind, 1e-6, 0.5), signed: true };
    assert.equal(shareOf(scale, 0), 0.5);
    assert.ok(Math.abs(shareOf(scale, 0.5) - 1) < 1e-12);
    assert.ok(Math.abs(shareOf(scale, -0.5)) < 1e-12);
    assert.ok(Math.abs(shareOf(scale, 0.1) + shareOf(scale, -0.1) - 1) < 1e-12);
    const pixels = new Uint8Array(lookup(signedValues(0.5), scale, "difference", "light").buffer);
    assert.deepEqual([...pixels.slice(128 * 4, 128 * 4 + 3)], colourAt("difference", "light", 0.5));
  }
});
