// Several heads at once.

import assert from "node:assert/strict";
import { test } from "node:test";

import { comparable, listed, toggled, together } from "../../../src/clearhead/page/web/choosing.js";

const layer = (name, heads, more = {}) => ({ name, heads: Array.from({ length: heads }, (_, head) => ({ high: `${name} ${head} ${more.trace ?? 0}` })), n_q: 5, n_k: 5, by_q: 1, by_k: 1, stack: "", trace: 0, ...more });
const layers = [layer("a", 2), layer("b", 3), layer("long", 2, { n_k: 9 }), layer("a", 2, { trace: 1 })];
const state = (layer, head, choice = []) => ({ layer, head, choice });
const say = (name) => name;

test("a head joins and leaves, and one is always open", () => {
  assert.deepEqual(toggled(state(1, 0), { layer: 0, head: 1 }), { layer: 1, head: 0, choice: ["0.1", "1.0"] });
  assert.deepEqual(toggled(state(1, 0, ["0.1", "1.0"]), { layer: 1, head: 0 }), { layer: 0, head: 1, choice: [] });
  assert.deepEqual(toggled(state(1, 0), { layer: 1, head: 0 }), {});
});

test("all heads of a layer, or all that have its size and are of its trace", () => {
  assert.deepEqual(together(layers, 1, "layer"), ["1.0", "1.1", "1.2"]);
  assert.deepEqual(together(layers, 1, "all"), ["0.0", "0.1", "1.0", "1.1", "1.2"]);
  assert.deepEqual(together(layers, 2, "all"), ["2.0", "2.1"]);
});

test("a head is compared with the same head of another trace, else with the next", () => {
  assert.deepEqual(comparable(layers, { layer: 0, head: 1 }), ["3.1"]);
  assert.deepEqual(comparable(layers, { layer: 1, head: 2 }), ["3.0"]);
  assert.deepEqual(comparable([layer("only", 1)], { layer: 0, head: 0 }), []);
});

test("a pair of which all numbers are the same is passed over", () => {
  const twins = [layer("a", 2), layer("b", 2), layer("a", 2, { trace: 1 }), layer("b", 2, { trace: 1 })];
  twins[2].heads = twins[0].heads;
  assert.deepEqual(comparable(twins, { layer: 0, head: 1 }), ["1.0"]);
  assert.deepEqual(comparable(twins, { layer: 1, head: 1 }), ["3.1"]);
});

test("a choice is told layer by layer", () => {
  assert.equal(listed(layers, [{ layer: 0, head: 0 }, { layer: 0, head: 1 }, { layer: 1, head: 2 }], say), "a: every_head · b: 2");
});
