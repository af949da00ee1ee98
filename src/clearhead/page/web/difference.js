// What one head has more of than another: a map of signed numbers, asked and drawn like a map of weights.

import { HIGHEST, LOWEST, MASKED, NOT_A_NUMBER } from "./codec.js";
import { RemoteMap } from "./remotemap.js";
import { TILE, Tiles } from "./tiles.js";

/** @typedef {import("./headmap.js").HeadMap} HeadMap */

const MIDDLE = (LOWEST + HIGHEST) / 2; // the code of no difference
const DECADES = 6;
const NOBODY = 0xffffffff;

export class DifferenceMap {
  /**
   * @param {HeadMap} a
   * @param {HeadMap} b  with as many queries and keys, in the same cells
   */
  constructor(a, b) {
    this.a = a;
    this.b = b;
    this.n_q = a.n_q;
    this.n_k = a.n_k;
    this.by_q = a.by_q;
    this.by_k = a.by_k;
    this.rows = a.rows;
    this.columns = a.columns;
    this.exact = a.exact && b.exact;
    this.single = a.single;
    const cells = differences(a, b);
    this.high = largestOf(cells) || 1;
    this.low = this.high / 10 ** DECADES;
    this.values = signedValues(this.high);
    this.codes = signedCodes(cells, this.high);
    const known = this.exact ? null : knownOf(a, b);
    this.topIndices = known?.indices;
    this.topWeights = known?.weights;
    this.keys = known ? a.keys + b.keys : 0;
    this.peak = known ? largestOf(known.weights) : this.high;
    this.tiles = tilesOf(a, b);
    this.entropy = new Float32Array(0);
    this.received = new Float32Array(0);
    this.signed = true;
  }

  /** @param {boolean} withoutFirst */
  largest(withoutFirst) {
    let best = 0;
    for (let i = 0; i < this.codes.length; i++) {
      const code = this.codes[i];
      if (code === NOT_A_NUMBER || code === MASKED || (withoutFirst && i % this.columns === 0)) continue;
      best = Math.max(best, Math.abs(code - MIDDLE));
    }
    return best ? this.values[MIDDLE + best] : 0;
  }

  /**
   * Where the two differ most, as far as single weights are known in both.
   * @param {boolean} first  whether the first key counts
   */
  extreme(first) {
    let [best, at] = [0, { q: 0, k: 0 }];
    const consider = (/** @type {number} */ q, /** @type {number} */ k, /** @type {number} */ value) => {
      if (Math.abs(value) > Math.abs(best) && (first || k > 0)) [best, at] = [value, { q, k }];
    };
    if (this.exact) {
      const [a, b] = [/** @type {Float32Array} */ (this.a.weights), /** @type {Float32Array} */ (this.b.weights)];
      for (let i = 0; i < a.length; i++) consider(Math.floor(i / this.n_k), i % this.n_k, Math.max(a[i], 0) - Math.max(b[i], 0));
    } else {
      this.topIndices?.forEach((key, i) => key < this.n_k && consider(Math.floor(i / this.keys), key, this.topWeights?.[i] ?? 0));
    }
    return { at, value: best };
  }

  /**
   * @param {number} q
   * @param {number} k
   */
  code(q, k) {
    return this.codes[Math.floor(q / this.by_q) * this.columns + Math.floor(k / this.by_k)];
  }

  /**
   * A masked place has no weight: what the other has there is the whole difference.
   * @param {number} q
   * @param {number} k
   * @returns {import("./headmap.js").Weight}
   */
  weight(q, k) {
    const tile = this.tiles?.get(0, Math.floor(q / TILE), Math.floor(k / TILE));
    if (tile?.weights) return told(tile.weights[(q % TILE) * tile.columns + (k % TILE)]);
    const [a, b] = [this.a.weight(q, k), this.b.weight(q, k)];
    if (a.kind === "masked" && b.kind === "masked") return { value: 0, kind: "masked" };
    if (a.kind === "nan" || b.kind === "nan") return { value: NaN, kind: "nan" };
    const exact = [a.kind, b.kind].every((kind) => kind === "exact" || kind === "masked");
    return { value: a.value - b.value, kind: exact ? "exact" : "mean" };
  }
}

/**
 * A difference as it is told.
 * @param {number} value  a negative infinity is masked
 * @returns {import("./headmap.js").Weight}
 */
function told(value) {
  if (value === -Infinity) return { value: 0, kind: "masked" };
  return Number.isNaN(value) ? { value, kind: "nan" } : { value, kind: "exact" };
}

/**
 * The tiles of a difference, where both heads are asked for theirs; null where what is here is all there is.
 * @param {HeadMap} a
 * @param {HeadMap} b
 */
function tilesOf(a, b) {
  if (!(a instanceof RemoteMap && b instanceof RemoteMap && a.tiles && b.tiles)) return null;
  /** @type {import("./tiles.js").AskTile} */
  const ask = async (...place) => {
    const [one, two] = await Promise.all([a.askTile(...place), b.askTile(...place)]);
    const { level, row, column, rows, columns } = one;
    const weights = minus(/** @type {Float32Array} */ (one.weights), /** @type {Float32Array} */ (two.weights));
    const high = largestOf(weights) || 1;
    return { level, row, column, rows, columns, weights, codes: signedCodes(weights, high), values: signedValues(high) };
  };
  return new Tiles(a, a.tiles.levels, a.tiles.base, ask, a.news);
}

/**
 * Weight by weight, a − b, where below zero is masked: what is so in both is a negative infinity.
 * @param {Float32Array} a
 * @param {Float32Array} b
 */
function minus(a, b) {
  return a.map((weight, i) => (weight < 0 && b[i] < 0 ? -Infinity : (weight < 0 ? 0 : weight) - (b[i] < 0 ? 0 : b[i])));
}

/**
 * Cell by cell, a − b; a negative infinity is masked in both.
 * @param {HeadMap} a
 * @param {HeadMap} b
 */
function differences(a, b) {
  return Float32Array.from(a.codes, (code, i) => {
    if (code === MASKED && b.codes[i] === MASKED) return -Infinity;
    return cell(a, i) - cell(b, i);
  });
}

/**
 * @param {HeadMap} map
 * @param {number} i
 */
function cell(map, i) {
  if (map.codes[i] === MASKED) return 0;
  return map.weights ? map.weights[i] : map.values[map.codes[i]];
}

/** @param {Float32Array} values */
function largestOf(values) {
  return values.reduce((best, value) => (Number.isFinite(value) ? Math.max(best, Math.abs(value)) : best), 0);
}

/**
 * What codes stand for: zero in the middle, and six decades to either side.
 * @param {number} high
 */
export function signedValues(high) {
  const values = new Float64Array(256).fill(NaN);
  for (let code = LOWEST; code <= HIGHEST; code++) {
    const share = Math.abs(code - MIDDLE) / (HIGHEST - MIDDLE);
    values[code] = share ? Math.sign(code - MIDDLE) * high * 10 ** (-DECADES * (1 - share)) : 0;
  }
  return values;
}

/**
 * @param {Float32Array} cells
 * @param {number} high
 */
export function signedCodes(cells, high) {
  const steps = HIGHEST - MIDDLE;
  return Uint8Array.from(cells, (value) => {
    if (value === -Infinity) return MASKED;
    if (Number.isNaN(value)) return NOT_A_NUMBER;
    const share = value ? 1 + Math.log10(Math.abs(value) / high) / DECADES : 0;
    return MIDDLE + Math.sign(value) * Math.round(Math.max(share, 0) * steps);
  });
}

/**
 * In maps of coarse cells, the places whose weight is known exactly in both.
 * @param {HeadMap} a
 * @param {HeadMap} b
 */
function knownOf(a, b) {
  const keys = a.keys + b.keys;
  const indices = new Uint32Array(a.n_q * keys).fill(NOBODY);
  const weights = new Float32Array(a.n_q * keys);
  for (let q = 0; q < a.n_q; q++) {
    let at = q * keys;
    for (const map of [a, b]) {
      for (let i = q * map.keys; i < (q + 1) * map.keys; i++) {
        const key = map.topIndices?.[i] ?? NOBODY;
        if (key >= a.n_k || (map === b && a.place(q, key) >= 0)) continue;
        const [one, two] = [a.weight(q, key), b.weight(q, key)];
        if (![one.kind, two.kind].every((kind) => kind === "exact" || kind === "masked")) continue;
        indices[at] = key;
        weights[at++] = one.value - two.value;
      }
    }
  }
  return { indices, weights };
}
