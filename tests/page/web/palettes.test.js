// Colours that every eye can order.

import assert from "node:assert/strict";
import { test } from "node:test";

import { codeValues } from "../../../src/clearhead/page/web/codec.js";
import { PALETTES, colourAt, inkOn, lookup, scaleOf, shareOf } from "../../../src/clearhead/page/web/palettes.js";

// What the three kinds of colour blindness make of a colour: matrices of Machado, Oliveira and Fernandes (2009).
const EYES = {
  full: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
const linear = (x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4);
const luminance = (colour, eye) => {
  const [r, g, b] = EYES[eye].map((row) => Math.max(row.reduce((sum, x, i) => sum + x * linear(colour[i]), 0), 0));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

test("more is always darker on light pages and lighter on dark ones, to every eye", () => {
  for (const name of PALETTES) {
    for (const [theme, sign] of [["light", -1], ["dark", 1]]) {
      for (const eye of Object.keys(EYES)) {
        const values = Array.from({ length: 21 }, (_, i) => luminance(colourAt(name, theme, i / 20), eye));
        values.slice(1).forEach((value, i) => assert.ok(sign * (value - values[i]) > 0, `${name} ${theme} ${eye} ${i}`));
      }
    }
  }
});

test("scales run from 0 to 1", () => {
  assert.equal(shareOf(scaleOf("linear", 1e-6, 0.5), 0.5), 1);
  assert.equal(shareOf(scaleOf("linear", 1e-6, 0.5), 0.25), 0.5);
  assert.ok(Math.abs(shareOf(scaleOf("log", 1e-6, 0.5), 0.5) - 1) < 1e-12);
  assert.equal(shareOf(scaleOf("log", 1e-6, 0.5), 0), 0);
  assert.ok(shareOf(scaleOf("log", 1e-6, 0.5), 1e-4) > 0);
});

test("masked places are see-through, and what is no number has a colour of its own", () => {
  const pixels = new Uint8Array(lookup(codeValues(1e-4, 1), scaleOf("log", 1e-4, 1), "plum", "light").buffer);
  assert.equal(pixels[3], 0);
  assert.equal(pixels[7], 255);
  const odd = [...pixels.slice(255 * 4, 255 * 4 + 3)].join();
  for (let code = 1; code < 255; code++) assert.notEqual([...pixels.slice(code * 4, code * 4 + 3)].join(), odd);
});

test("writing on a colour can be read", () => {
  for (const name of PALETTES) {
    for (const theme of ["light", "dark"]) {
      for (let i = 0; i <= 20; i++) {
        const colour = colourAt(name, theme, i / 20);
        const [a, b] = [luminance(colour, "full"), luminance(inkOn(colour) === "#000" ? [0, 0, 0] : [255, 255, 255], "full")];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        assert.ok(contrast >= 4.5, `${name} ${theme} ${i}: ${contrast}`);
      }
    }
  }
});

test("more and less are told apart by every eye, and each by its size", () => {
  for (const theme of ["light", "dark"]) {
    for (const eye of Object.keys(EYES)) {
      const far = (a, b) => {
        const seen = (share) => EYES[eye].map((row) => row.reduce((sum, x, i) => sum + x * colourAt("difference", theme, share)[i], 0));
        return Math.hypot(...seen(a).map((x, i) => x - seen(b)[i]));
      };
      for (const size of [0.15, 0.3, 0.5]) assert.ok(far(0.5 - size, 0.5 + size) > 30, `${theme} ${eye} ${size}`);
      const sign = theme === "light" ? -1 : 1;
      for (const side of [-1, 1]) {
        const values = Array.from({ length: 11 }, (_, i) => luminance(colourAt("difference", theme, 0.5 + (side * i) / 20), eye));
        values.slice(1).forEach((value, i) => assert.ok(sign * (value - values[i]) > 0, `${theme} ${eye} ${side} ${i}`));
      }
    }
  }
});
