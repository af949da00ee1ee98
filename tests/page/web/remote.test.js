// Data that are asked for: questions, answers, and what is known of a head before and after they have come.

import assert from "node:assert/strict";
import { test } from "node:test";

import { RemoteSource, askThrough } from "../../../src/clearhead/page/web/remote.js";

/** An answer as answers.py frames it. */
function framed(arrays, told = {}) {
  const text = new TextEncoder().encode(JSON.stringify({ arrays: arrays.map(([name, type, shape]) => [name, type, shape]), ...told }));
  const parts = [new Uint8Array(new Uint32Array([text.length]).buffer), text, ...arrays.map(([, , , numbers]) => new Uint8Array(numbers.buffer))];
  const whole = new Uint8Array(parts.reduce((all, part) => all + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole.buffer;
}

const LAYER = { n_q: 600, n_k: 600, by_q: 2, by_k: 2, exact: false, levels: 3, heads: [{ low: 0.001, high: 1 }] };
const STATS = framed([
  ["cells", "u1", [300, 300], new Uint8Array(90000).fill(100)], ["top_indices", "u2", [600, 1], new Uint16Array(600)],
  ["top_weights", "f4", [600, 1], new Float32Array(600).fill(0.5)], ["entropy", "f4", [300], new Float32Array(300)],
  ["received", "f4", [300], new Float32Array(300)],
]);

function source() {
  const asked = [];
  const answers = {
    "head/0/0/stats": STATS,
    "head/0/0/row/7": framed([["weights", "f4", [600], Float32Array.from({ length: 600 }, (_, k) => (k < 5 ? k / 10 : -1))]]),
    "head/0/0/column/3": framed([["weights", "f4", [600], Float32Array.from({ length: 600 }, (_, q) => q / 1000)]]),
    "head/0/0/tile/0/0/0?kind=f4": framed([["weights", "f4", [256, 256], new Float32Array(65536).fill(0.25)]]),
    "head/0/0/tile/1/0/0": framed([["cells", "u1", [256, 256], new Uint8Array(65536).fill(254)]], { low: 0.1, high: 0.75 }),
  };
  const made = new RemoteSource({ layers: [LAYER], tables: [5], labels: 4 }, async (question) => {
    asked.push(question);
    if (question.startsWith("tokens/")) return new TextEncoder().encode(JSON.stringify(question === "tokens/0/0" ? [..."abcd"] : ["e"])).buffer;
    if (!(question in answers)) throw new Error(`nothing at ${question}`);
    return answers[question];
  });
  return { source: made, asked };
}

test("labels come in parts, and are put together in order", async () => {
  assert.deepEqual(await source().source.tokens(), [[..."abcde"]]);
});

test("a row that is looked at is asked for once, and exact when it is there", async () => {
  const { source: made, asked } = source();
  let news = 0;
  made.onNews.push(() => news++);
  const map = await made.head(0, 0);
  assert.equal(map.weight(7, 3).kind, "mean");
  assert.equal(map.rank(7, 3), null);
  map.rank(7, 4);
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(news, 1);
  assert.deepEqual(asked, ["head/0/0/stats", "head/0/0/row/7"]);
  assert.equal(map.rank(7, 3), 2);
  assert.ok(Math.abs(map.weight(7, 3).value - 0.3) < 1e-6);
  assert.equal(map.weight(7, 3).kind, "exact");
  assert.deepEqual(map.weight(7, 9), { value: 0, kind: "masked" });
  assert.equal(map.row(7)[9], 0);
  assert.deepEqual(map.strongest(7, "from", 2).map(({ position, exact }) => [position, exact]), [[4, true], [3, true]]);
  assert.deepEqual(await made.exact(0, 0, 7, 9), { value: 0, kind: "masked" });
  assert.equal((await made.row(0, 0, 7)).weights[9], 0);
});

test("a head that nobody waits for any more is called off", async () => {
  const signals = [];
  const { source: made } = source();
  const answer = made.ask;
  made.ask = (question, signal) => {
    signals.push(signal);
    return question.startsWith("head/0/1") ? new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("called off")))) : answer(question, signal);
  };
  const left = made.head(0, 1);
  made.callOff([{ layer: 0, head: 0 }]);
  await assert.rejects(left, /called off/);
  assert.equal(signals[0].aborted, true);
  assert.equal(made.heads.size, 0);
  await made.head(0, 0);
  made.callOff([]);
  assert.equal(made.heads.size, 1); // one that is open stays
});

test("a column likewise", async () => {
  const { source: made } = source();
  const map = await made.head(0, 0);
  map.column(3);
  await new Promise((resolve) => setTimeout(resolve));
  assert.ok(Math.abs(map.column(3)[500] - 0.5) < 1e-6);
  assert.equal(map.strongest(3, "to", 1)[0].position, 599);
});

test("the finest tile has exact weights, others codes with a range of their own", async () => {
  const { source: made } = source();
  const fine = await made.tile(0, 0, 0, 0, 0);
  assert.equal(fine.weights[9], 0.25);
  assert.ok(Math.abs(fine.values[fine.codes[9]] - 0.25) < 0.01);
  const coarse = await made.tile(0, 0, 1, 0, 0);
  assert.ok(Math.abs(coarse.values[coarse.codes[0]] - 0.75) < 1e-12);
  const map = await made.head(0, 0);
  map.tiles.see({ x: 0, y: 0, scale: 2 }, { width: 100, height: 100 });
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual(map.weight(200, 100), { value: 0.25, kind: "exact" });
});

test("a question through a port can be called off", async () => {
  const { port1, port2 } = new MessageChannel();
  const ask = askThrough(port1);
  const heard = [];
  port2.onmessage = ({ data }) => {
    heard.push(data);
    if (data.question === "trace") port2.postMessage({ id: data.id, buffer: new ArrayBuffer(3) });
    if (data.question === "nothing") port2.postMessage({ id: data.id, error: "there is nothing" });
  };
  assert.equal((await ask("trace")).byteLength, 3);
  await assert.rejects(ask("nothing"), /there is nothing/);
  const controller = new AbortController();
  const left = ask("slow", controller.signal);
  controller.abort();
  await assert.rejects(left, /called off/);
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual(heard.at(-1), { id: 2, question: null });
  port1.close();
});
