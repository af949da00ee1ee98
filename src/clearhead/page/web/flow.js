// Running text laid out for a drawing: where each token stands, in lines of a width. Drawings show the lines in sight.

import { widthOf } from "./surface.js";

/** @typedef {{ x: number, line: number, width: number }} Spot */

const SPACE = 0.3; // of the letters' size
const INSIDE = 3; // pixels around a token
const LONGEST = 40; // letters of one token

/**
 * @param {import("./tokens.js").Piece[]} pieces
 * @param {number} width
 * @param {{ size: number, least: number, bold: number }} letters  their size, how wide a token is at the least, and how much wider strong letters are
 * @returns {{ spots: Spot[], lines: number }}
 */
export function laidOut(pieces, width, { size, least, bold }) {
  let [x, line] = [0, 0];
  const spots = pieces.map(({ before, text, breaks }, i) => {
    const wide = Math.min(Math.max(widthOf(shown(text), size) * bold + 2 * INSIDE, least), width);
    if (x > 0) x += before ? SPACE * size : 1;
    if (x > 0 && x + wide > width) [x, line] = [0, line + 1];
    const spot = { x, line, width: wide };
    x += wide;
    if (breaks && i < pieces.length - 1) [x, line] = [0, line + 1];
    return spot;
  });
  return { spots, lines: line + 1 };
}

/**
 * A token as it is drawn: there is always something to see.
 * @param {string} text
 */
export function shown(text) {
  const letters = [...(text || "␣")];
  return letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join("")}…` : letters.join("");
}

/**
 * The tokens of some lines: the first, and one past the last.
 * @param {Spot[]} spots
 * @param {number} from
 * @param {number} to
 */
export function within(spots, from, to) {
  const first = (/** @type {number} */ line) => {
    let [low, high] = [0, spots.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (spots[middle].line < line) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return { start: first(from), end: first(to) };
}
