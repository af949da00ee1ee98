// The mean of several heads, as one map: exact where every head is; else of cells, and of the strongest keys of any. Of
// heads that a server knows, tiles, rows and columns of the mean are asked for, and exact.

import { HIGHEST, LOWEST, MASKED, NOT_A_NUMBER, codeValues, encoded } from "./codec.js";
import { HeadMap } from "./headmap.js";
import { RemoteMap } from "./remotemap.js";
import { Tiles } from "./tiles.js";

const DECADES = 1e6;
const HIDDEN = -1;

/**
 * The mean of heads that have the same queries and keys; masked where all of them are.
 * @param {HeadMap[]} maps
 * @returns {HeadMap}
 */
export function averaged(maps) {
  if (maps.length === 1) return maps[0];
  return maps.every(({ exact }) => exact) ? ofWeights(maps) : ofCells(maps);
}

/**
 * @param {HeadMap[]} maps
 * @returns {HeadMap}
 */
function ofWeights(maps) {
  const [like] = maps;
  const weights = mean(maps.map((map) => /** @type {Float32Array} */ (map.weights)));
  const arrays = new Map([["weights", weights], ["entropy", entropies(weights, like.n_q, like.n_k)], ["received", mean(maps.map(({ received }) => received))]]);
  return new HeadMap(/** @type {any} */ (like), /** @type {any} */ (rangeOf(weights)), arrays);
}

/**
 * @param {HeadMap[]} maps
 * @returns {HeadMap}
 */
function ofCells(maps) {
  const [like] = maps;
  const cells = mean(maps.map(({ codes, values }) => {
    const table = Float32Array.from(values);
    table[MASKED] = HIDDEN;
    return Float32Array.from(codes, (code) => table[code]);
  }));
  const range = rangeOf(cells);
  const { indices, weights, certain } = strongestOf(maps);
  const arrays = new Map(/** @type {[string, import("./codec.js").Numbers][]} */ ([
    ["cells", encoded(cells, range.low, range.high)], ["top_indices", indices], ["top_weights", weights],
    ["entropy", mean(maps.map(({ entropy }) => entropy))], ["received", mean(maps.map(({ received }) => received))],
  ]));
  const asked = maps.filter((map) => map instanceof RemoteMap);
  const map = asked.length === maps.length ? ofRemote(asked, range, arrays) : new HeadMap(/** @type {any} */ (like), /** @type {any} */ (range), arrays);
  map.certain = certain;
  return map;
}

/**
 * The mean of heads of which more can be asked: of their tiles, rows and columns, which are exact.
 * @param {RemoteMap[]} maps
 * @param {{ low: number, high: number }} range
 * @param {Map<string, import("./codec.js").Numbers>} arrays
 */
function ofRemote(maps, range, arrays) {
  const [like] = maps;
  /** @type {import("./remotemap.js").AskLine} */
  const line = async (...asked) => mean(await Promise.all(maps.map((map) => map.ask(...asked))));
  /** @type {import("./tiles.js").AskTile} */
  const tile = async (...asked) => {
    const tiles = await Promise.all(maps.map((map) => map.askTile(...asked)));
    return weighedTile(tiles[0], mean(tiles.map(({ weights }) => /** @type {Float32Array} */ (weights))));
  };
  const tiles = like.tiles && new Tiles(like, like.tiles.levels, like.tiles.base, tile, like.news);
  return new RemoteMap(/** @type {any} */ (like), /** @type {any} */ (range), arrays, tiles, { line, tile, news: like.news });
}

/**
 * A tile at the place of another, of these weights.
 * @param {import("./tiles.js").Tile} place
 * @param {Float32Array} weights
 * @returns {import("./tiles.js").Tile}
 */
function weighedTile({ level, row, column, rows, columns }, weights) {
  const { low, high } = rangeOf(weights);
  return { level, row, column, rows, columns, weights, codes: encoded(weights, low, high), values: codeValues(low, high) };
}

/**
 * The mean of arrays; a negative number is masked, and stays so where all are.
 * @param {Float32Array[]} arrays
 */
export function mean(arrays) {
  const sums = new Float64Array(arrays[0].length);
  const hidden = new Uint16Array(arrays[0].length);
  for (const array of arrays) {
    for (let i = 0; i < array.length; i++) {
      if (array[i] < 0) hidden[i]++;
      else sums[i] += array[i];
    }
  }
  return Float32Array.from(sums, (sum, i) => (hidden[i] === arrays.length ? HIDDEN : sum / arrays.length));
}

/**
 * The range that codes span, as packing.py chooses it.
 * @param {Float32Array} weights
 */
export function rangeOf(weights) {
  let [low, high] = [Infinity, 0];
  for (const weight of weights) {
    if (!(weight > 0)) continue;
    if (weight < low) low = weight;
    if (weight > high) high = weight;
  }
  high ||= 1;
  return { low: Math.min(Math.max(Math.min(low, high), high / DECADES), high / 2), high };
}

/**
 * How undecided each query is, in nats.
 * @param {Float32Array} weights
 * @param {number} n_q
 * @param {number} n_k
 */
function entropies(weights, n_q, n_k) {
  return Float32Array.from({ length: n_q }, (_, q) => {
    let sum = 0;
    for (let i = q * n_k; i < (q + 1) * n_k; i++) if (!(weights[i] <= 0)) sum -= weights[i] * Math.log(weights[i]);
    return sum;
  });
}

/**
 * The strongest keys of each query by their mean. Heads that do not count a key among their strongest give it the mean of
 * its cell, but no more than their weakest known; such a mean is no exact one.
 * @param {HeadMap[]} maps
 */
function strongestOf(maps) {
  const [{ n_q, n_k, keys }] = maps;
  const indices = new Uint32Array(n_q * keys).fill(0xffffffff);
  const weights = new Float32Array(n_q * keys);
  const certain = new Uint8Array(n_q * keys);
  const seen = new Int32Array(n_k).fill(-1);
  for (let q = 0; q < n_q; q++) {
    /** @type {number[]} */
    const candidates = [];
    for (const map of maps) {
      for (let i = q * map.keys; i < (q + 1) * map.keys; i++) {
        const key = map.topIndices?.[i] ?? n_k;
        if (key >= n_k || seen[key] === q) continue;
        seen[key] = q;
        candidates.push(key);
      }
    }
    const found = candidates.map((key) => ({ key, ...meanAt(maps, q, key) })).sort((a, b) => b.weight - a.weight);
    found.slice(0, keys).forEach(({ key, weight, exact }, i) => {
      indices[q * keys + i] = key;
      weights[q * keys + i] = weight;
      certain[q * keys + i] = Number(exact);
    });
  }
  return { indices, weights, certain };
}

/**
 * @param {HeadMap[]} maps
 * @param {number} q
 * @param {number} k
 */
function meanAt(maps, q, k) {
  let [sum, exact] = [0, true];
  for (const map of maps) {
    const at = map.place(q, k);
    if (at >= 0) {
      sum += map.topWeights?.[at] ?? 0;
      continue;
    }
    const code = map.code(q, k);
    if (code === MASKED) continue;
    exact = false;
    if (code === NOT_A_NUMBER) sum = NaN;
    else if (code >= LOWEST && code <= HIGHEST) sum += Math.min(map.values[code], map.topWeights?.[(q + 1) * map.keys - 1] ?? Infinity);
  }
  return { weight: sum / maps.length, exact };
}
