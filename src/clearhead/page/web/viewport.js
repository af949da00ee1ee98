// Panning and zooming: which part of a matrix a rectangle of the screen shows. Places are counted in positions.

/**
 * @typedef {object} Viewport
 * @property {number} x  the key at the left edge
 * @property {number} y  the query at the upper edge
 * @property {number} scale  pixels for each position
 */
/** @typedef {{ width: number, height: number }} Size */
/** @typedef {{ n_q: number, n_k: number }} Extent */

export const LARGEST = 96; // pixels for one position

/**
 * All of the matrix, in squares.
 * @param {Extent} extent
 * @param {Size} size
 * @returns {Viewport}
 */
export function fit({ n_q, n_k }, { width, height }) {
  return { x: 0, y: 0, scale: Math.min(width / n_k, height / n_q, LARGEST) };
}

/**
 * The nearest viewport that shows nothing but the matrix, as far as it is large enough.
 * @param {Viewport} viewport
 * @param {Extent} extent
 * @param {Size} size
 * @returns {Viewport}
 */
export function kept({ x, y, scale }, extent, size) {
  const within = Math.min(Math.max(scale, fit(extent, size).scale), LARGEST);
  const last = (/** @type {number} */ n, /** @type {number} */ pixels) => Math.max(n - pixels / within, 0);
  return {
    x: Math.min(Math.max(x, 0), last(extent.n_k, size.width)),
    y: Math.min(Math.max(y, 0), last(extent.n_q, size.height)),
    scale: within,
  };
}

/**
 * Zoomed so that what is under a point stays under it.
 * @param {Viewport} viewport
 * @param {number} factor
 * @param {{ x: number, y: number }} point  in pixels
 * @param {Extent} extent
 * @param {Size} size
 * @returns {Viewport}
 */
export function zoomed(viewport, factor, point, extent, size) {
  const scale = Math.min(Math.max(viewport.scale * factor, fit(extent, size).scale), LARGEST);
  const x = viewport.x + point.x / viewport.scale - point.x / scale;
  const y = viewport.y + point.y / viewport.scale - point.y / scale;
  return kept({ x, y, scale }, extent, size);
}

/**
 * Moved just far enough that a place is in sight.
 * @param {Viewport} viewport
 * @param {{ q?: number | null, k?: number | null }} place
 * @param {Extent} extent
 * @param {Size} size
 * @returns {Viewport}
 */
export function showing(viewport, { q, k }, extent, size) {
  const into = (/** @type {number} */ start, /** @type {number} */ length, /** @type {number | null | undefined} */ at) =>
    at == null ? start : Math.min(Math.max(start, at + 1 - length), at);
  const x = into(viewport.x, size.width / viewport.scale, k);
  const y = into(viewport.y, size.height / viewport.scale, q);
  return kept({ ...viewport, x, y }, extent, size);
}

/**
 * Which positions to name along an edge, so that names have at least so many pixels each: every one, or every 2nd, 5th,
 * 10th, 20th …
 * @param {number} start
 * @param {number} end
 * @param {number} scale
 * @param {number} room
 * @returns {{ positions: number[], step: number }}
 */
export function named(start, end, scale, room) {
  let step = 1;
  for (let power = 1; step * scale < room; power *= 10) {
    for (const digit of [1, 2, 5]) if ((step = digit * power) * scale >= room) break;
  }
  const positions = [];
  for (let at = Math.ceil(start / step) * step; at < end; at += step) positions.push(at);
  return { positions, step };
}
