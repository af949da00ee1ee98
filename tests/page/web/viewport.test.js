// Panning and zooming.

import assert from "node:assert/strict";
import { test } from "node:test";

import { LARGEST, fit, kept, named, showing, zoomed } from "../../../src/clearhead/page/web/viewport.js";

const extent = { n_q: 1000, n_k: 1000 };
const size = { width: 500, height: 400 };

test("all of it fits, in squares", () => {
  assert.deepEqual(fit(extent, size), { x: 0, y: 0, scale: 0.4 });
  assert.equal(fit({ n_q: 1, n_k: 1 }, size).scale, LARGEST);
});

test("what is under the pointer stays there", () => {
  const before = { x: 100, y: 200, scale: 1 };
  const after = zoomed(before, 3, { x: 50, y: 80 }, extent, size);
  assert.ok(Math.abs(after.x + 50 / after.scale - 150) < 1e-9);
  assert.ok(Math.abs(after.y + 80 / after.scale - 280) < 1e-9);
  assert.equal(after.scale, 3);
});

test("one cannot leave the matrix, nor zoom without end", () => {
  assert.deepEqual(kept({ x: -5, y: 5000, scale: 4 }, extent, size), { x: 0, y: 900, scale: 4 });
  assert.equal(zoomed({ x: 0, y: 0, scale: 90 }, 99, { x: 0, y: 0 }, extent, size).scale, LARGEST);
  assert.equal(zoomed({ x: 0, y: 0, scale: 0.5 }, 0.01, { x: 0, y: 0 }, extent, size).scale, 0.4);
});

test("a place is brought into sight, and no further", () => {
  const viewport = { x: 100, y: 100, scale: 10 };
  assert.deepEqual(showing(viewport, { q: 120, k: 120 }, extent, size), viewport);
  assert.equal(showing(viewport, { q: 150, k: null }, extent, size).y, 111);
  assert.equal(showing(viewport, { q: 90, k: null }, extent, size).y, 90);
});

test("names have room", () => {
  for (const scale of [0.01, 0.3, 1, 4, 14, 60]) {
    const { positions, step } = named(3, 777, scale, 14);
    assert.ok(step * scale >= 14 || positions.length < 2, `scale ${scale}`);
    assert.ok(positions.every((at) => at % step === 0 && at >= 3 && at < 777));
  }
  assert.equal(named(0, 10, 20, 14).step, 1);
});
