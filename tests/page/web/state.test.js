// The address says what is looked at, and is not trusted.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fitting, mostTelling, startState } from "../../../src/clearhead/page/web/start.js";
import { Store, fromAddress, toAddress } from "../../../src/clearhead/page/web/state.js";

const head = (telling) => ({ telling });
const cells = { by_q: 1, by_k: 1, stack: "", trace: 0 };
const header = { language: "ko", layers: [{ ...cells, n_q: 9, n_k: 9, heads: [head(0.1), head(null)] }, { ...cells, n_q: 60, n_k: 9, heads: [head(0.8)] }] };
const start = startState(header);

test("the most telling head comes first, on a scale that shows something", () => {
  assert.deepEqual(mostTelling(header.layers), { layer: 1, head: 0 });
  assert.equal(start.scale, "log");
  assert.equal(start.language, "ko");
});

test("an address brings everything back", () => {
  const state = { ...start, layer: 0, head: 1, choice: ["0.0", "0.1"], other: ["0.0"], query: 4, key: 7, direction: "to", scale: "linear", palette: "sea", first: false, view: "compare", tab: "text", window: [1.25, 2, 30.5], sort: "entropy", show: "distance", filter: "local", where: "effect of x", bound: "most", limit: -0.25, language: "en", theme: "dark" };
  assert.deepEqual(fromAddress(`#${toAddress(state, start)}`, start), state);
  assert.equal(toAddress(start, start), "");
});

test("letting go of a choice is said too", () => {
  const chosen = { ...start, query: 4 };
  assert.equal(fromAddress(toAddress(start, chosen), chosen).query, null);
});

test("nonsense is passed over", () => {
  for (const address of ["l=x&h=-1", "q=1e9999", "s=<b>", "p=__proto__", "w=1,2", "w=1,2,NaN", "w=0,0,0", "__proto__=1", "constructor=1", "first=maybe", "mean=1", "mean=1.2,x", "with=__proto__", "limit=1e999", "limit=x", "bound=under", "sort=<script>", "%%%"]) {
    assert.deepEqual(fromAddress(address, start), start, address);
  }
});

test("what does not fit the data is let go", () => {
  const state = fitting({ ...start, layer: 9, head: 4, query: 70, key: 3 }, header);
  assert.deepEqual([state.layer, state.head, state.query, state.key], [1, 0, null, 3]);
});

test("a choice has the open head in it, and heads that go together", () => {
  const chosen = (choice) => fitting({ ...start, layer: 0, head: 1, choice }, header).choice;
  assert.deepEqual(chosen(["0.0", "0.1"]), ["0.0", "0.1"]);
  assert.deepEqual(chosen(["0.0", "0.1", "1.0", "7.7"]), ["0.0", "0.1"]);
  assert.deepEqual(chosen(["0.0"]), []);
  assert.deepEqual(chosen(["0.1", "1.0"]), []);
  assert.deepEqual(fitting({ ...start, layer: 0, head: 1, view: "compare" }, header).other, ["0.0"]);
});

test("only changes are told", () => {
  const store = new Store(start);
  const heard = [];
  store.listen((changed) => heard.push([...changed]));
  store.set({ scale: "log", query: 3 });
  store.set({ query: 3 });
  assert.deepEqual(heard, [["query"]]);
});
