// Which tiles are in sight, what stands in for those that are not here, and what is called off.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Tiles, inSight, levelAt } from "../../../src/clearhead/page/web/tiles.js";

const EXTENT = { n_q: 32768, n_k: 32768 };
const SIZE = { width: 600, height: 500 };

/** Tiles whose answers come when they are let go. */
function slow() {
  const asked = [];
  const tiles = new Tiles(EXTENT, 8, 6, (level, row, column, signal) => new Promise((resolve, reject) => {
    asked.push({ name: `${level} ${row} ${column}`, signal, come: () => resolve({ level, row, column }), fail: () => reject(new Error("no")) });
  }), () => undefined);
  return { tiles, asked };
}

const moment = () => new Promise((resolve) => setTimeout(resolve));

test("a cell has at least a pixel, and less than two", () => {
  assert.deepEqual([96, 1, 0.99, 0.5, 0.49, 0.02, 1e-6].map((scale) => levelAt(scale, 8)), [0, 0, 1, 1, 2, 6, 7]);
});

test("tiles in sight are those that a window touches, and none beyond the map", () => {
  assert.deepEqual(inSight({ x: 255, y: 256, scale: 2 }, { width: 4, height: 4 }, EXTENT, 0), [{ row: 1, column: 0 }, { row: 1, column: 1 }]);
  assert.deepEqual(inSight({ x: 32700, y: 0, scale: 1 }, { width: 500, height: 100 }, EXTENT, 0), [{ row: 0, column: 127 }]);
  assert.equal(inSight({ x: 0, y: 0, scale: 500 / 32768 }, SIZE, EXTENT, 6).length, 4);
});

test("the whole map is drawn where its cells are fine enough", () => {
  const { tiles, asked } = slow();
  assert.deepEqual(tiles.see({ x: 0, y: 0, scale: 500 / 32768 }, SIZE), [{ q0: 0, q1: 32768, k0: 0, k1: 32768, tile: null }]);
  assert.equal(asked.length, 0);
});

test("a coarser tile stands in until the finer is there", async () => {
  const { tiles, asked } = slow();
  const far = { x: 8192, y: 16384, scale: 1 / 32 };
  assert.ok(tiles.see(far, SIZE).every(({ tile }) => tile === null));
  asked.forEach(({ come }) => come());
  await moment();
  assert.ok(tiles.see(far, SIZE).every(({ tile }) => tile.level === 5));
  const near = { x: 8192, y: 16384, scale: 1 };
  assert.ok(tiles.see(near, SIZE).every(({ tile, q0, k0 }) => tile.level === 5 && tile.row === q0 >> 13 && tile.column === k0 >> 13));
  asked.filter(({ name }) => name.startsWith("0 ")).forEach(({ come }) => come());
  await moment();
  assert.ok(tiles.see(near, SIZE).every(({ tile }) => tile.level === 0));
});

test("what scrolled away is called off, and asked for again when it is back", async () => {
  const { tiles, asked } = slow();
  const here = { x: 0, y: 0, scale: 1 };
  tiles.see(here, SIZE);
  tiles.see(here, SIZE);
  const before = asked.length;
  assert.equal(before, 6);
  tiles.see({ x: 9000, y: 9000, scale: 1 }, SIZE);
  assert.ok(asked.slice(0, before).every(({ signal }) => signal.aborted));
  asked.slice(0, before).forEach(({ come }) => come());
  await moment();
  assert.equal(tiles.get(0, 0, 0), undefined);
  tiles.see(here, SIZE);
  assert.equal(asked.at(-1).name, "0 1 2");
  tiles.leave();
  assert.ok(asked.every(({ signal }) => signal.aborted));
});

test("one that failed is not asked for again and again", async () => {
  const { tiles, asked } = slow();
  const here = { x: 0, y: 0, scale: 1 };
  tiles.see(here, { width: 10, height: 10 });
  asked[0].fail();
  await moment();
  assert.equal(tiles.see(here, { width: 10, height: 10 })[0].tile, null);
  assert.equal(asked.length, 1);
});

test("no more than so many are kept, and not those seen last", async () => {
  const { tiles, asked } = slow();
  for (let row = 0; row < 128; row++) {
    tiles.see({ x: 0, y: row * 256, scale: 1 }, { width: 500, height: 200 });
    asked.splice(0).forEach(({ come }) => come());
    await moment();
  }
  assert.equal(tiles.here.size, 160);
  assert.ok(tiles.get(0, 127, 1));
  assert.equal(tiles.get(0, 0, 0), undefined);
});
