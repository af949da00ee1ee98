// What packing.py writes is read as it was meant.

import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";

import { HIGHEST, LOWEST, MASKED, NOT_A_NUMBER, ZERO, arraysIn, codeValues, encoded, fromBase64, inflated } from "../../../src/clearhead/page/web/codec.js";

test("a chunk is opened into its arrays", async () => {
  const raw = new Uint8Array([1, 0, 2, 0, 0, 0, 0, 63, 7]);
  const text = deflateSync(raw).toString("base64");
  const arrays = arraysIn(await inflated(fromBase64(text)), [["a", "u2", [1, 2]], ["b", "f4", [1]], ["c", "u1", [1]]]);
  assert.deepEqual([...arrays.get("a")], [1, 2]);
  assert.deepEqual([...arrays.get("b")], [0.5]);
  assert.deepEqual([...arrays.get("c")], [7]);
});

test("large numbers are little-endian too", () => {
  assert.deepEqual([...arraysIn(new Uint8Array([1, 2, 0, 0]).buffer, [["a", "u4", [1]]]).get("a")], [513]);
});

test("a chunk that is too short is an error", () => {
  assert.throws(() => arraysIn(new ArrayBuffer(3), [["a", "f4", [1]]]), /a ends at byte 4 of 3/u);
  assert.throws(() => arraysIn(new ArrayBuffer(8), [["a", "f8", [1]]]), /u1, u2, u4 or f4/u);
});

test("codes run from the lowest weight to the highest", () => {
  const values = codeValues(1e-4, 0.5);
  assert.equal(values[LOWEST], 1e-4);
  assert.ok(Math.abs(values[HIGHEST] - 0.5) < 1e-12);
  assert.equal(values[ZERO], 0);
  assert.ok(Number.isNaN(values[MASKED]) && Number.isNaN(values[NOT_A_NUMBER]));
});

test("weights become the codes of their values", () => {
  const weights = new Float32Array([-1, 0, NaN, 0.5, 0.01, 1e-9]);
  const codes = encoded(weights, 1e-4, 0.5);
  assert.deepEqual([...codes.slice(0, 4)], [MASKED, ZERO, NOT_A_NUMBER, HIGHEST]);
  assert.ok(Math.abs(codeValues(1e-4, 0.5)[codes[4]] / 0.01 - 1) < 0.03);
  assert.equal(codes[5], ZERO);
});
