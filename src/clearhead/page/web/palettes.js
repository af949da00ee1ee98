// Colours of weights: paths through OKLCH whose lightness only rises or falls, so that they read the same to every eye
// and in grey. Light and dark screens have their own: the smallest weight is nearly the page, the largest stands out.

import { HIGHEST, LOWEST, MASKED, ZERO } from "./codec.js";

/** @typedef {[lightness: number, chroma: number, hue: number]} Oklch */
/** @typedef {"plum" | "sea" | "ember" | "grey" | "difference"} PaletteName */

/** @type {PaletteName[]} */
export const PALETTES = ["plum", "sea", "ember", "grey"];

/** @type {Record<PaletteName, { light: Oklch[], dark: Oklch[] }>} */
const PATHS = {
  plum: {
    light: [[0.985, 0.004, 330], [0.86, 0.075, 345], [0.63, 0.16, 340], [0.42, 0.16, 325], [0.22, 0.09, 305]],
    dark: [[0.205, 0.015, 300], [0.36, 0.11, 305], [0.55, 0.18, 335], [0.76, 0.13, 10], [0.97, 0.05, 80]],
  },
  sea: {
    light: [[0.985, 0.004, 200], [0.87, 0.065, 190], [0.65, 0.1, 215], [0.44, 0.12, 250], [0.23, 0.08, 270]],
    dark: [[0.205, 0.015, 260], [0.36, 0.08, 255], [0.55, 0.11, 225], [0.77, 0.12, 185], [0.97, 0.06, 120]],
  },
  ember: {
    light: [[0.985, 0.006, 95], [0.88, 0.1, 85], [0.69, 0.15, 55], [0.48, 0.15, 32], [0.24, 0.07, 20]],
    dark: [[0.205, 0.012, 30], [0.37, 0.1, 28], [0.57, 0.16, 42], [0.79, 0.15, 75], [0.97, 0.06, 105]],
  },
  grey: {
    light: [[0.985, 0, 0], [0.2, 0, 0]],
    dark: [[0.205, 0, 0], [0.97, 0, 0]],
  },
  // less … equal … more: blue and orange, which no common eye confuses, with the page in the middle
  difference: {
    light: [[0.3, 0.12, 258], [0.55, 0.13, 250], [0.82, 0.06, 240], [0.985, 0, 0], [0.85, 0.09, 70], [0.62, 0.14, 52], [0.38, 0.1, 42]],
    dark: [[0.93, 0.06, 220], [0.72, 0.12, 240], [0.42, 0.1, 252], [0.205, 0, 0], [0.44, 0.09, 50], [0.74, 0.14, 65], [0.95, 0.08, 90]],
  },
};
/** @type {Record<"light" | "dark", [number, number, number]>} */
export const BROKEN = { light: [214, 88, 0], dark: [255, 150, 50] }; // not a number: in no palette

/**
 * A colour of the screen, 0 … 255 each.
 * @param {Oklch} colour
 * @returns {[number, number, number]}
 */
export function toRgb([lightness, chroma, hue]) {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const [red, green, blue] = linear.map((x) => {
    const screen = x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055;
    return Math.round(255 * Math.min(Math.max(screen, 0), 1));
  });
  return [red, green, blue];
}

/**
 * The colour a share of the way along a palette, 0 … 1.
 * @param {PaletteName} name
 * @param {"light" | "dark"} theme
 * @param {number} share
 * @returns {[number, number, number]}
 */
export function colourAt(name, theme, share) {
  const path = PATHS[name][theme];
  const place = Math.min(Math.max(share, 0), 1) * (path.length - 1);
  const first = Math.min(Math.floor(place), path.length - 2);
  const rest = place - first;
  const [from, to] = [path[first], path[first + 1]];
  const [start, end] = [from[1] ? from[2] : to[2], to[1] ? to[2] : from[2]]; // grey has any hue
  const turn = ((end - start + 540) % 360) - 180; // the short way round
  return toRgb([from[0] + rest * (to[0] - from[0]), from[1] + rest * (to[1] - from[1]), start + rest * turn]);
}

/**
 * How far along the palette a weight is.
 * @typedef {object} Scale
 * @property {"linear" | "log"} kind
 * @property {number} low
 * @property {number} high
 * @property {boolean} [signed]  whether numbers are differences: none is in the middle of the palette
 */

/**
 * @param {Scale} scale
 * @param {number} weight
 * @returns {number}
 */
export function shareOf(scale, weight) {
  if (scale.signed) return 0.5 + (Math.sign(weight) * shareOf({ ...scale, signed: false }, Math.abs(weight)) || 0) / 2;
  if (!(weight > 0) || !(scale.high > 0)) return 0;
  if (scale.kind === "linear") return Math.min(weight / scale.high, 1);
  return Math.min(Math.max(0.06 + (0.94 * Math.log(weight / scale.low)) / Math.log(scale.high / scale.low), 0), 1);
}

/**
 * The scale of a map whose largest weight is known: log scales span four decades, or what the map has.
 * @param {"linear" | "log"} kind
 * @param {number} low
 * @param {number} high
 * @returns {Scale}
 */
export function scaleOf(kind, low, high) {
  return { kind, low: Math.min(Math.max(low, high / 1e4), high / 2), high };
}

/**
 * What each of the 256 codes looks like, as pixels of a canvas. Masked places are see-through: what is behind them is
 * hatched.
 * @param {Float64Array} values  what each code stands for
 * @param {Scale} scale
 * @param {PaletteName} name
 * @param {"light" | "dark"} theme
 * @returns {Uint32Array}
 */
export function lookup(values, scale, name, theme) {
  const bytes = new Uint8ClampedArray(256 * 4);
  for (let code = 0; code < 256; code++) {
    const known = code === ZERO || (code >= LOWEST && code <= HIGHEST);
    const colour = known ? colourAt(name, theme, shareOf(scale, values[code])) : BROKEN[theme];
    bytes.set(code === MASKED ? [0, 0, 0, 0] : [...colour, 255], code * 4);
  }
  return new Uint32Array(bytes.buffer);
}

/**
 * Black or white, whichever can be read better on a colour: at least 4.5 to 1, as WCAG counts it.
 * @param {[number, number, number]} colour
 */
export function inkOn(colour) {
  const [red, green, blue] = colour.map((x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
}

/** @param {[number, number, number]} colour */
export function css([red, green, blue]) {
  return `rgb(${red} ${green} ${blue})`;
}

