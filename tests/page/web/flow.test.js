// Running text laid out for a drawing.

import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.document = { createElement: () => ({ getContext: () => null }) }; // letters as wide as they are high
const { laidOut, shown, within } = await import("../../../src/clearhead/page/web/flow.js");

const pieces = ["ab", "c", "def", "g"].map((text, i) => ({ before: i ? " " : "", text, breaks: i === 2 }));

test("tokens stand side by side until the line is full, or broken", () => {
  const { spots, lines } = laidOut(pieces, 70, { size: 10, least: 0, bold: 1 });
  assert.deepEqual(spots.map(({ line }) => line), [0, 0, 1, 2]);
  assert.equal(spots[1].x, spots[0].width + 3);
  assert.equal(lines, 3);
});

test("a token is at least as wide as asked, and never wider than the line", () => {
  assert.equal(laidOut(pieces, 70, { size: 10, least: 40, bold: 1 }).spots[1].width, 40);
  assert.equal(laidOut([{ before: "", text: "x".repeat(90), breaks: false }], 70, { size: 10, least: 0, bold: 1 }).spots[0].width, 70);
  assert.equal(shown("").length, 1);
});

test("the tokens of some lines are found", () => {
  const { spots } = laidOut(pieces, 70, { size: 10, least: 0, bold: 1 });
  assert.deepEqual(within(spots, 0, 1), { start: 0, end: 2 });
  assert.deepEqual(within(spots, 1, 9), { start: 2, end: 4 });
  assert.deepEqual(within(spots, -5, 0), { start: 0, end: 0 });
});
