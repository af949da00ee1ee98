// The big map: which tiles are in sight at which zoom, those that are here, and what stands in for those that are not.
// A tile is 256 × 256 cells of 2^level positions; a server or a notebook computes it when it is first seen.

/** @typedef {{ n_q: number, n_k: number }} Extent */
/**
 * A tile that is here.
 * @typedef {object} Tile
 * @property {number} level
 * @property {number} row
 * @property {number} column
 * @property {number} rows  of cells
 * @property {number} columns
 * @property {Uint8Array} codes
 * @property {Float64Array} values  what each code stands for
 * @property {Float32Array} [weights]  at the finest level, exact
 * @property {HTMLCanvasElement} [picture]
 * @property {string} [painted]  what it was painted for
 */
/**
 * A part of the map, in positions, and the tile to draw there; null where there is only the map of the whole.
 * @typedef {{ q0: number, q1: number, k0: number, k1: number, tile: Tile | null }} Part
 */
/** @typedef {(level: number, row: number, column: number, signal: AbortSignal) => Promise<Tile>} AskTile */

export const TILE = 256;
const KEPT = 160; // tiles; one in sight is never among those that are let go

/**
 * The finest level whose cells are still at least a pixel.
 * @param {number} scale  pixels for each position
 * @param {number} levels
 */
export function levelAt(scale, levels) {
  return Math.min(Math.max(Math.ceil(-Math.log2(scale) - 1e-6), 0), levels - 1);
}

/**
 * The tiles of a level that a rectangle of the screen shows.
 * @param {import("./viewport.js").Viewport} viewport
 * @param {{ width: number, height: number }} size
 * @param {Extent} extent
 * @param {number} level
 * @returns {{ row: number, column: number }[]}
 */
export function inSight(viewport, size, { n_q, n_k }, level) {
  const side = TILE * 2 ** level;
  const last = (/** @type {number} */ start, /** @type {number} */ length, /** @type {number} */ n) =>
    Math.ceil(Math.min(start + length / viewport.scale, n) / side);
  const found = [];
  for (let row = Math.floor(viewport.y / side); row < last(viewport.y, size.height, n_q); row++) {
    for (let column = Math.floor(viewport.x / side); column < last(viewport.x, size.width, n_k); column++) found.push({ row, column });
  }
  return found;
}

export class Tiles {
  /**
   * @param {Extent} extent
   * @param {number} levels  how many there are
   * @param {number} base  the level that the map of the whole has
   * @param {AskTile} ask
   * @param {() => void} news  a tile has come
   */
  constructor(extent, levels, base, ask, news) {
    this.extent = extent;
    this.levels = levels;
    this.base = base;
    this.ask = ask;
    this.news = news;
    /** @type {Map<string, Tile>} those seen last come last */
    this.here = new Map();
    /** @type {Map<string, AbortController>} */
    this.asked = new Map();
    /** @type {Set<string>} */
    this.failed = new Set();
  }

  /**
   * @param {number} level
   * @param {number} row
   * @param {number} column
   */
  get(level, row, column) {
    return this.here.get(`${level} ${row} ${column}`);
  }

  /** What is in sight, in parts; what is missing is asked for, and what is not in sight any more is called off.
   * @param {import("./viewport.js").Viewport} viewport
   * @param {{ width: number, height: number }} size
   * @returns {Part[]}
   */
  see(viewport, size) {
    const level = levelAt(viewport.scale, this.levels);
    const wanted = level < this.base ? inSight(viewport, size, this.extent, level) : [];
    const names = new Set(wanted.map(({ row, column }) => `${level} ${row} ${column}`));
    for (const [name, controller] of this.asked) {
      if (names.has(name)) continue;
      controller.abort();
      this.asked.delete(name);
    }
    if (level >= this.base) return [{ q0: 0, q1: this.extent.n_q, k0: 0, k1: this.extent.n_k, tile: null }];
    return wanted.map(({ row, column }) => this.part(level, row, column));
  }

  /**
   * @param {number} level
   * @param {number} row
   * @param {number} column
   * @returns {Part}
   */
  part(level, row, column) {
    const side = TILE * 2 ** level;
    const { n_q, n_k } = this.extent;
    const place = { q0: row * side, q1: Math.min((row + 1) * side, n_q), k0: column * side, k1: Math.min((column + 1) * side, n_k) };
    const name = `${level} ${row} ${column}`;
    const tile = this.here.get(name);
    if (tile) {
      this.here.delete(name);
      this.here.set(name, tile);
      return { ...place, tile };
    }
    this.fetch(level, row, column);
    for (let up = level + 1; up < this.base; up++) {
      const coarser = this.get(up, row >> (up - level), column >> (up - level));
      if (coarser) return { ...place, tile: coarser };
    }
    return { ...place, tile: null };
  }

  /**
   * @param {number} level
   * @param {number} row
   * @param {number} column
   */
  async fetch(level, row, column) {
    const name = `${level} ${row} ${column}`;
    if (this.asked.has(name) || this.failed.has(name)) return;
    const controller = new AbortController();
    this.asked.set(name, controller);
    try {
      const tile = await this.ask(level, row, column, controller.signal);
      if (controller.signal.aborted) return;
      this.here.set(name, tile);
      for (const old of this.here.keys()) if (this.here.size > KEPT) this.here.delete(old);
    } catch {
      if (controller.signal.aborted) return;
      this.failed.add(name); // the coarser one goes on standing in
    }
    this.asked.delete(name);
    this.news();
  }

  /** Nobody looks at it any more. */
  leave() {
    for (const controller of this.asked.values()) controller.abort();
    this.asked.clear();
  }
}
