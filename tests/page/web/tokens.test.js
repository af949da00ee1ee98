// Tokens as running text, and what is said of places.

import assert from "node:assert/strict";
import { test } from "node:test";

import { quoted } from "../../../src/clearhead/page/web/exporting.js";
import { bars, placed } from "../../../src/clearhead/page/web/mappaint.js";
import { figure, say } from "../../../src/clearhead/page/web/strings.js";
import { headSentence } from "../../../src/clearhead/page/web/telling.js";
import { asText, inSentence, paragraphs, shortened } from "../../../src/clearhead/page/web/tokens.js";

const joined = (tokens) => asText(tokens).map(({ before, text }) => before + text).join("");

test("every tokenizer's way of marking words makes the same text", () => {
  assert.equal(joined(["The", "cat", "sat", "."]), "The cat sat.");
  assert.equal(joined(["The", "Ġcat", "Ġs", "at", "."]), "The cat sat.");
  assert.equal(joined(["▁The", "▁cat", "▁s", "at", "."]), "The cat sat.");
  assert.equal(joined(["The", "␣cat", "␣s", "at", "."]), "The cat sat.");
  assert.equal(joined(["The", "cat", "s", "##at", "."]), "The cat sat.");
  assert.equal(joined(["고양이", "##가", "앉", "##았다", "."]), "고양이가 앉았다.");
});

test("paragraphs end at breaks and sentences, and hold every token once", () => {
  const pieces = asText(Array.from({ length: 1000 }, (_, i) => (i % 40 === 39 ? "." : i === 500 ? "⏎" : `w${i}`)));
  const runs = paragraphs(pieces);
  assert.equal(runs[0][0], 0);
  assert.equal(runs.at(-1)[1], 1000);
  runs.slice(1).forEach(([start], i) => assert.equal(start, runs[i][1]));
  assert.ok(runs.some(([, end]) => end === 501));
  assert.ok(runs.every(([start, end]) => end - start <= 450));
});

test("a token stands among its neighbours", () => {
  const pieces = asText("a b c d e f g h".split(" "));
  assert.deepEqual(inSentence(pieces, 4, 2), ["… c d ", "e", " f g…"]);
  assert.deepEqual(inSentence(pieces, 0, 2), ["", "a", " b c…"]);
});

test("long labels are cut by letters", () => {
  assert.equal(shortened("가나다라", 3), "가나…");
  assert.equal(shortened("abc", 3), "abc");
});

test("weights have four digits, and none reads as 0 that is not", () => {
  assert.equal(figure(0.41237), "0.4124");
  assert.equal(figure(0.00001), "1.0e-5");
  assert.equal(figure(0), "0");
  assert.equal(figure(NaN), "NaN");
});

test("a head is told in a sentence, with how sure that is", () => {
  const info = { pattern: "previous_token", score: 0.94, closest: ["previous_token", "local"], scores: { previous_token: 0.94, local: 0.3 } };
  const en = (name, values) => say("en", name, values);
  assert.equal(headSentence(info, en), "Each query looks mostly at the token before it. That is clear: score 0.94 of 1.");
  const mixed = headSentence({ ...info, pattern: "mixed", score: 0.2 }, en);
  assert.equal(mixed, "No single pattern: closest are previous token (0.94) and local (0.30).");
  assert.match(headSentence(info, (name, values) => say("ko", name, values)), /앞 토큰.*0\.94점/u);
});

test("names never touch, and the chosen ones are there", () => {
  const found = placed([0, 20, 40], [21, null], 0, 50, 1);
  assert.deepEqual(found, [0, 40, 21]);
});

test("bars that share a pixel show the largest", () => {
  const drawn = [];
  bars(new Float32Array([1, 4, 2, 3]), 1, 0, 0.5, 10, 4, (at, thick, share) => drawn.push([at, thick, share]));
  assert.deepEqual(drawn, [[0, 1, 1], [1, 1, 0.75]]);
});

test("a table takes no formula from a token", () => {
  assert.equal(quoted("=1+1"), `"'=1+1"`);
  assert.equal(quoted('a"b'), '"a""b"');
});
