// Words in both languages.

import assert from "node:assert/strict";
import { test } from "node:test";

import { layerNamed } from "../../../src/clearhead/page/web/strings.js";

test("names that clearhead gave to layers follow the language, others stay", () => {
  assert.equal(layerNamed("ko", "layer 3"), "층 3");
  assert.equal(layerNamed("en", "인코더 0"), "encoder 0");
  assert.equal(layerNamed("en", "cross 11"), "cross 11");
  assert.equal(layerNamed("ko", "my layer 3"), "my layer 3");
  assert.equal(layerNamed("ko", "vision 0"), "vision 0");
});
