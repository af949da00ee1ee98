// One head's weights as far as they are known here: all of them, or cells of many places and each query's strongest keys.

import { MASKED, NOT_A_NUMBER, codeValues, encoded } from "./codec.js";
import { levelAt } from "./tiles.js";

/**
 * What is known of a head without opening its data; fitting.py writes it.
 * @typedef {object} HeadInfo
 * @property {number} low
 * @property {number} high
 * @property {[number, number]} stamp
 * @property {string} pattern
 * @property {number | null} score
 * @property {string[]} closest
 * @property {number | null} telling
 * @property {Record<string, number | null>} statistics
 * @property {Record<string, number | null>} scores
 */
/**
 * @typedef {object} LayerInfo
 * @property {string} name
 * @property {number} n_q
 * @property {number} n_k
 * @property {number} by_q
 * @property {number} by_k
 * @property {boolean} exact
 * @property {number} [levels]  of tiles, where there are any
 * @property {[number, number]} stamped  rows and columns of the small maps
 * @property {HeadInfo[]} heads
 * @property {[number | null, number | null]} tokens
 * @property {string} stack  encoder, decoder or cross, where there are several stacks
 * @property {number} trace
 * @property {number | null} prompt  how many positions were given, where the rest were generated
 * @property {number | null} image
 */
/** @typedef {"exact" | "mean" | "masked" | "nan"} Kind */
/** @typedef {{ value: number, kind: Kind }} Weight */
/** @typedef {{ position: number, weight: number, exact: boolean }} Partner */

export class HeadMap {
  /**
   * @param {LayerInfo} layer
   * @param {HeadInfo} head
   * @param {Map<string, import("./codec.js").Numbers>} arrays
   */
  constructor(layer, head, arrays) {
    this.n_q = layer.n_q;
    this.n_k = layer.n_k;
    this.by_q = layer.by_q;
    this.by_k = layer.by_k;
    this.rows = Math.ceil(layer.n_q / layer.by_q);
    this.columns = Math.ceil(layer.n_k / layer.by_k);
    this.low = head.low;
    this.high = head.high;
    this.values = codeValues(head.low, head.high);
    this.weights = /** @type {Float32Array | undefined} */ (arrays.get("weights"));
    this.codes = this.weights
      ? encoded(this.weights, head.low, head.high)
      : /** @type {Uint8Array} */ (arrays.get("cells"));
    this.topIndices = arrays.get("top_indices");
    this.topWeights = /** @type {Float32Array | undefined} */ (arrays.get("top_weights"));
    this.keys = this.topIndices ? this.topIndices.length / layer.n_q : 0;
    this.peak = this.topWeights ? this.topWeights.reduce((best, weight) => (weight > best ? weight : best), 0) : head.high;
    /** @type {Uint8Array | null} of a mean, which of the strongest keys are exact: not every head knows each of them */
    this.certain = null;
    this.signed = false; // a difference is
    /** @type {import("./tiles.js").Tiles | null} */
    this.tiles = null; // of a map that is computed as it is looked at
    this.entropy = /** @type {Float32Array} */ (arrays.get("entropy"));
    this.received = /** @type {Float32Array} */ (arrays.get("received"));
  }

  /** Whether every weight is known. */
  get exact() {
    return this.weights !== undefined;
  }

  /** Whether a cell is one place. */
  get single() {
    return this.by_q === 1 && this.by_k === 1;
  }

  /**
   * The largest weight of the map, with or without the first key.
   * @param {boolean} withoutFirst
   */
  largest(withoutFirst) {
    let best = 0;
    for (let i = 0; i < this.codes.length; i++) {
      const code = this.codes[i];
      if (code === NOT_A_NUMBER || code <= best || (withoutFirst && i % this.columns === 0)) continue;
      best = code;
    }
    return best > 1 ? this.values[best] : 0;
  }

  /**
   * What the colour of the cell around a place stands for: NaN if it is masked or not a number.
   * @param {number} q
   * @param {number} k
   */
  code(q, k) {
    return this.codes[Math.floor(q / this.by_q) * this.columns + Math.floor(k / this.by_k)];
  }

  /**
   * The weight of one place: exact if it is known, else the mean of its cell.
   * @param {number} q
   * @param {number} k
   * @returns {Weight}
   */
  weight(q, k) {
    const known = this.place(q, k);
    if (known >= 0 && this.topWeights) return { value: this.topWeights[known], kind: this.isCertain(known) ? "exact" : "mean" };
    const code = this.code(q, k);
    if (code === MASKED) return { value: 0, kind: "masked" };
    if (code === NOT_A_NUMBER) return { value: NaN, kind: "nan" };
    if (this.weights) return { value: this.weights[q * this.n_k + k], kind: "exact" };
    return { value: this.values[code], kind: "mean" };
  }

  /**
   * Where a key stands among the strongest of a query, in the arrays of them; −1 if it does not.
   * @param {number} q
   * @param {number} k
   */
  place(q, k) {
    if (!this.topIndices) return -1;
    for (let i = q * this.keys; i < (q + 1) * this.keys; i++) if (this.topIndices[i] === k) return i;
    return -1;
  }

  /**
   * Whether the weight of a place is known as it is.
   * @param {number} q
   * @param {number} k
   */
  isExact(q, k) {
    return this.exact || this.isCertain(this.place(q, k));
  }

  /** Whether one of the strongest keys, by its place in the arrays of them, is exact. @param {number} place */
  isCertain(place) {
    return place >= 0 && (!this.certain || this.certain[place] === 1);
  }

  /**
   * What a cell stands for where a position has so many pixels.
   * @param {number} scale
   * @returns {{ by_q: number, by_k: number, computed: boolean }}
   */
  cellAt(scale) {
    const level = this.tiles ? levelAt(scale, this.tiles.levels) : Infinity;
    if (!this.tiles || level >= this.tiles.base) return { by_q: this.by_q, by_k: this.by_k, computed: this.tiles !== null };
    return { by_q: 2 ** level, by_k: 2 ** level, computed: true };
  }

  /**
   * Which of a query's keys this one is, 1 for the strongest; null if it is beyond those that are known.
   * @param {number} q
   * @param {number} k
   * @returns {number | null}
   */
  rank(q, k) {
    if (this.certain) return null; // some key that no head counts among its strongest may be stronger on the mean
    if (!this.weights) {
      const known = this.place(q, k);
      return known < 0 ? null : known - q * this.keys + 1;
    }
    const own = this.weights[q * this.n_k + k];
    let better = 0;
    for (let i = q * this.n_k; i < (q + 1) * this.n_k; i++) if (this.weights[i] > own) better++;
    return better + 1;
  }

  /**
   * How many keys a query may see; null where that is not known.
   * @param {number} q
   * @returns {number | null}
   */
  visible(q) {
    return this.weights ? unmasked(this.weights.subarray(q * this.n_k, (q + 1) * this.n_k)) : null;
  }

  /**
   * The weights of one query over all keys, 0 where masked.
   * @param {number} q
   * @returns {Float32Array}
   */
  row(q) {
    const row = new Float32Array(this.n_k);
    for (let k = 0; k < this.n_k; k++) row[k] = this.shade(q, k);
    for (let i = q * this.keys; i < (q + 1) * this.keys; i++) {
      const key = this.topIndices?.[i] ?? this.n_k;
      if (key < this.n_k && this.topWeights) row[key] = this.topWeights[i];
    }
    return row;
  }

  /**
   * The weights of all queries on one key, 0 where masked.
   * @param {number} k
   * @returns {Float32Array}
   */
  column(k) {
    const column = new Float32Array(this.n_q);
    for (let q = 0; q < this.n_q; q++) column[q] = this.shade(q, k);
    for (let i = 0; i < (this.topIndices?.length ?? 0); i++) {
      if (this.topIndices?.[i] === k && this.topWeights) column[Math.floor(i / this.keys)] = this.topWeights[i];
    }
    return column;
  }

  /**
   * @param {number} q
   * @param {number} k
   */
  shade(q, k) {
    const weight = this.weights ? this.weights[q * this.n_k + k] : this.values[this.code(q, k)];
    return weight > 0 ? weight : 0;
  }

  /**
   * The strongest partners of a query (its keys) or of a key (its queries), the strongest first.
   * @param {number} position
   * @param {"from" | "to"} direction  from a query, or to a key
   * @param {number} count
   * @returns {Partner[]}
   */
  strongest(position, direction, count) {
    const weights = direction === "from" ? this.row(position) : this.column(position);
    /** @type {Partner[]} */
    const found = [];
    for (let other = 0; other < weights.length; other++) {
      const weight = weights[other];
      if (!(weight > 0) || (found.length === count && weight <= found[count - 1].weight)) continue;
      const [q, k] = direction === "from" ? [position, other] : [other, position];
      const exact = this.isExact(q, k);
      if (!exact && !this.single && this.place(q, k) < 0) continue; // the mean of a cell is nobody's weight
      let at = found.length;
      while (at > 0 && found[at - 1].weight < weight) at--;
      found.splice(at, 0, { position: other, weight, exact });
      if (found.length > count) found.pop();
    }
    return found;
  }
}

/**
 * How many of some weights are not masked.
 * @param {Float32Array} weights
 */
export function unmasked(weights) {
  let count = 0;
  for (const weight of weights) if (!(weight < 0)) count++;
  return count;
}
