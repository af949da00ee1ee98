// Heads by their numbers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { grouped, keptOf, numbersOf, sorted, spanOf } from "../../../src/clearhead/page/web/ranking.js";

const entry = (head, effect, pattern = "local") => ({ layer: 0, head, info: { pattern, score: 0.5, telling: effect, statistics: { effect, entropy: head }, scores: { local: 0.1 } } });
const entries = [entry(0, -1), entry(1, null), entry(2, 3, "self")];
const all = { filter: "all", where: "", bound: "least", limit: 0 };

test("heads without a number come last, whichever way", () => {
  assert.deepEqual(sorted(entries, "effect").map(({ head }) => head), [2, 0, 1]);
  assert.deepEqual(sorted(entries, "entropy").map(({ head }) => head), [0, 1, 2]);
  assert.equal(sorted(entries, "layer"), entries);
});

test("heads are kept by pattern and by any number", () => {
  const kept = (changes) => keptOf(entries, { ...all, ...changes }).map(({ head }) => head);
  assert.deepEqual(kept({}), [0, 1, 2]);
  assert.deepEqual(kept({ filter: "self" }), [2]);
  assert.deepEqual(kept({ where: "effect", limit: 0 }), [2]);
  assert.deepEqual(kept({ where: "effect", bound: "most", limit: 0 }), [0]);
});

test("a span has zero in it", () => {
  assert.deepEqual(spanOf(entries, "effect"), { low: -1, high: 3 });
  assert.deepEqual(spanOf(entries, "nothing"), { low: 0, high: 1e-9 });
  assert.deepEqual(numbersOf(entries), { statistics: ["effect", "entropy"], scores: ["local"] });
});

test("layers are grouped by trace and stack, in their order", () => {
  const layers = [[0, "encoder"], [0, "decoder"], [0, "encoder"], [1, "encoder"]].map(([trace, stack]) => ({ trace, stack }));
  assert.deepEqual(grouped(layers).map(({ layers: own }) => own), [[0, 2], [1], [3]]);
});
