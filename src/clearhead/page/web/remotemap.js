// One head of which a server, or a notebook, knows every weight: what is here is a map of the whole, as in a file, and
// the tiles, rows and columns that were looked at, exact.

import { HeadMap, unmasked } from "./headmap.js";
import { TILE } from "./tiles.js";

/** @typedef {"row" | "column"} Line */
/** @typedef {(line: Line, at: number, signal: AbortSignal) => Promise<Float32Array>} AskLine */

const KEPT = 48; // rows, and as many columns
const WAITING = 3; // rows that are asked for at once; of more, the oldest is called off

export class RemoteMap extends HeadMap {
  /**
   * @param {import("./headmap.js").LayerInfo} layer
   * @param {import("./headmap.js").HeadInfo} head
   * @param {Map<string, import("./codec.js").Numbers>} arrays
   * @param {import("./tiles.js").Tiles | null} tiles
   * @param {object} asking
   * @param {AskLine} asking.line
   * @param {import("./tiles.js").AskTile} asking.tile  with its weights, whatever its level
   * @param {() => void} asking.news
   */
  constructor(layer, head, arrays, tiles, { line, tile, news }) {
    super(layer, head, arrays);
    this.tiles = tiles;
    this.ask = line;
    this.askTile = tile;
    this.news = news;
    /** @type {Record<Line, Map<number, Float32Array>>} */
    this.lines = { row: new Map(), column: new Map() };
    /** @type {Map<string, AbortController>} */
    this.asked = new Map();
  }

  /**
   * All weights of a query, or on a key, if they are here; else they are asked for.
   * @param {Line} line
   * @param {number} at
   */
  line(line, at) {
    const found = this.lines[line].get(at);
    if (!found && !this.exact) this.fetch(line, at);
    return found;
  }

  /**
   * @param {Line} line
   * @param {number} at
   */
  async fetch(line, at) {
    const name = `${line} ${at}`;
    if (this.asked.has(name)) return;
    for (const [old, controller] of this.asked) {
      if (this.asked.size < WAITING) break;
      controller.abort();
      this.asked.delete(old);
    }
    const controller = new AbortController();
    this.asked.set(name, controller);
    try {
      const weights = await this.ask(line, at, controller.signal);
      const lines = this.lines[line];
      lines.set(at, weights);
      for (const old of lines.keys()) if (lines.size > KEPT) lines.delete(old);
      this.forget(name, controller);
      this.news();
    } catch {
      // what is here goes on being told as what it is; one that failed is not asked for again and again
      if (controller.signal.aborted) this.forget(name, controller);
    }
  }

  /**
   * A question is over. The same one may have been asked again since it was called off: that one stays.
   * @param {string} name
   * @param {AbortController} controller
   */
  forget(name, controller) {
    if (this.asked.get(name) === controller) this.asked.delete(name);
  }

  /** The exact weight of a place, −1 where masked; undefined if it is not here.
   * @param {number} q
   * @param {number} k
   */
  known(q, k) {
    const row = this.lines.row.get(q);
    if (row) return row[k];
    const column = this.lines.column.get(k);
    if (column) return column[q];
    const tile = this.tiles?.get(0, Math.floor(q / TILE), Math.floor(k / TILE));
    return tile?.weights?.[(q % TILE) * tile.columns + (k % TILE)];
  }

  /** @type {HeadMap["weight"]} */
  weight(q, k) {
    const value = this.known(q, k);
    if (value === undefined) return super.weight(q, k);
    if (value < 0) return { value: 0, kind: "masked" };
    return Number.isNaN(value) ? { value, kind: "nan" } : { value, kind: "exact" };
  }

  /** @type {HeadMap["rank"]} */
  rank(q, k) {
    const row = this.line("row", q);
    if (!row) return super.rank(q, k);
    let better = 0;
    for (const weight of row) if (weight > row[k]) better++;
    return better + 1;
  }

  /** @type {HeadMap["visible"]} */
  visible(q) {
    const row = this.lines.row.get(q);
    return row ? unmasked(row) : super.visible(q);
  }

  /** @type {HeadMap["row"]} */
  row(q) {
    return this.line("row", q)?.map((weight) => (weight > 0 ? weight : 0)) ?? super.row(q);
  }

  /** @type {HeadMap["column"]} */
  column(k) {
    return this.line("column", k)?.map((weight) => (weight > 0 ? weight : 0)) ?? super.column(k);
  }

  /** @type {HeadMap["isExact"]} */
  isExact(q, k) {
    return this.lines.row.has(q) || this.lines.column.has(k) || super.isExact(q, k);
  }

  /** Nobody looks at it any more. */
  leave() {
    this.tiles?.leave();
    for (const controller of this.asked.values()) controller.abort();
    this.asked.clear();
  }
}
