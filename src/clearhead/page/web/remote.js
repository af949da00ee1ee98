// Data that are asked for one by one: of a server by addresses, of a notebook's kernel by messages. The questions, and
// their answers, are those of answers.py.

import { codeValues, encoded, unframed } from "./codec.js";
import { RemoteMap } from "./remotemap.js";
import { Tiles } from "./tiles.js";

/** @typedef {import("./data.js").Header} Header */
/** @typedef {(question: string, signal?: AbortSignal) => Promise<ArrayBuffer>} Ask */
/** @typedef {Header & { tables: number[], labels: number }} RemoteHeader */

const KEPT = 12; // heads that stay open
const DECADES = 1e6;

/**
 * Questions to the server that the page came from.
 * @type {Ask}
 */
export async function askServer(question, signal) {
  const answer = await fetch(`api/${question}`, { signal });
  if (!answer.ok) throw new Error((await answer.text()).trim() || String(answer.status));
  return answer.arrayBuffer();
}

/**
 * Questions through a port, as a widget has one to its kernel.
 * @param {MessagePort} port
 * @returns {Ask}
 */
export function askThrough(port) {
  /** @type {Map<number, { resolve: (buffer: ArrayBuffer) => void, reject: (error: Error) => void }>} */
  const waiting = new Map();
  let count = 0;
  port.onmessage = ({ data }) => {
    const asked = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error !== undefined) asked?.reject(new Error(data.error));
    else asked?.resolve(data.buffer);
  };
  return (question, signal) =>
    new Promise((resolve, reject) => {
      const id = count++;
      waiting.set(id, { resolve, reject });
      port.postMessage({ id, question });
      signal?.addEventListener("abort", () => {
        if (!waiting.delete(id)) return;
        port.postMessage({ id, question: null }); // so that it is not computed if it has not been yet
        reject(new Error("called off"));
      });
    });
}

/** @implements {Pick<import("./data.js").Source, "tokens" | "stamps" | "head" | "callOff" | "image" | "row" | "exact">} */
export class RemoteSource {
  /**
   * @param {RemoteHeader} header
   * @param {Ask} ask
   */
  constructor(header, ask) {
    this.header = header;
    this.ask = ask;
    /** @type {(() => void)[]} */
    this.onNews = [];
    /** @type {Map<string, Promise<RemoteMap>>} */
    this.heads = new Map();
    /** @type {Map<string, AbortController>} heads that are being opened */
    this.opening = new Map();
  }

  /**
   * @param {string} question
   * @param {AbortSignal} [signal]
   */
  async arrays(question, signal) {
    return unframed(await this.ask(question, signal));
  }

  /** @returns {Promise<string[][]>} */
  async tokens() {
    const { tables, labels } = this.header;
    const parts = (/** @type {number} */ table) => Array.from({ length: Math.ceil(tables[table] / labels) }, (_, part) => this.ask(`tokens/${table}/${part}`).then(asJson));
    return Promise.all(tables.map(async (_, table) => (await Promise.all(parts(table))).flat()));
  }

  /** @param {number} layer */
  async stamps(layer) {
    const { arrays, told } = await this.arrays(`stamps/${layer}`);
    const all = /** @type {Uint8Array} */ (arrays.get("stamps"));
    const [count] = told.arrays[0][2];
    const size = all.length / count;
    return Array.from({ length: count }, (_, head) => all.subarray(head * size, (head + 1) * size));
  }

  /** @param {number} number */
  async image(number) {
    const { arrays, told } = await this.arrays(`image/${number}`);
    const [height, width] = told.arrays[0][2];
    return { pixels: /** @type {Uint8Array} */ (arrays.get("pixels")), height, width };
  }

  /**
   * @param {number} layer
   * @param {number} head
   * @returns {Promise<RemoteMap>}
   */
  head(layer, head) {
    const name = `${layer}/${head}`;
    let found = this.heads.get(name);
    if (found) this.heads.delete(name); // to the end: the last one asked for goes last
    else {
      const controller = new AbortController();
      this.opening.set(name, controller);
      found = this.opened(layer, head, controller.signal);
      const over = () => this.opening.get(name) === controller && this.opening.delete(name);
      found.then(over, over);
      const own = found;
      own.catch(() => this.heads.get(name) === own && this.heads.delete(name)); // to be asked for again
      for (const [old, map] of this.heads) {
        if (this.heads.size < KEPT) break;
        this.heads.delete(old);
        map.then((one) => one.leave(), () => undefined);
      }
    }
    this.heads.set(name, found);
    return found;
  }

  /**
   * Heads that are being opened and that nobody waits for any more are called off.
   * @param {{ layer: number, head: number }[]} wanted
   */
  callOff(wanted) {
    const names = wanted.map(({ layer, head }) => `${layer}/${head}`);
    for (const [name, controller] of this.opening) {
      if (names.includes(name)) continue;
      this.opening.delete(name);
      this.heads.delete(name);
      controller.abort();
    }
  }

  /**
   * @param {number} layer
   * @param {number} head
   * @param {AbortSignal} [signal]
   */
  async opened(layer, head, signal) {
    const info = this.header.layers[layer];
    const { arrays } = await this.arrays(`head/${layer}/${head}/stats`, signal);
    const news = () => this.onNews.forEach((listener) => listener());
    const base = Math.log2(Math.max(info.by_q, info.by_k));
    const tiles = info.exact ? null : new Tiles(info, info.levels ?? 1, base, (...place) => this.tile(layer, head, ...place), news);
    return new RemoteMap(info, info.heads[head], arrays, tiles, {
      line: (line, at, signal) => this.line(layer, head, line, at, signal),
      tile: (...place) => this.tile(layer, head, ...place, true),
      news,
    });
  }

  /**
   * A tile of a head's map: the finest exact, others to 3 % unless they are to be.
   * @param {number} layer
   * @param {number} head
   * @param {number} level
   * @param {number} row
   * @param {number} column
   * @param {AbortSignal} [signal]
   * @param {boolean} [exact]
   * @returns {Promise<import("./tiles.js").Tile>}
   */
  async tile(layer, head, level, row, column, signal, exact = level === 0) {
    const question = `head/${layer}/${head}/tile/${level}/${row}/${column}${exact ? "?kind=f4" : ""}`;
    const { arrays, told } = await this.arrays(question, signal);
    const [rows, columns] = told.arrays[0][2];
    const place = { level, row, column, rows, columns };
    const weights = /** @type {Float32Array | undefined} */ (arrays.get("weights"));
    if (!weights) return { ...place, codes: /** @type {Uint8Array} */ (arrays.get("cells")), values: codeValues(told.low ?? 0, told.high ?? 1) };
    const high = weights.reduce((best, weight) => (weight > best ? weight : best), 0) || 1;
    return { ...place, weights, codes: encoded(weights, high / DECADES, high), values: codeValues(high / DECADES, high) };
  }

  /**
   * @param {number} layer
   * @param {number} head
   * @param {import("./remotemap.js").Line} line
   * @param {number} at
   * @param {AbortSignal} [signal]
   */
  async line(layer, head, line, at, signal) {
    const { arrays } = await this.arrays(`head/${layer}/${head}/${line}/${at}`, signal);
    return /** @type {Float32Array} */ (arrays.get("weights"));
  }

  /** @type {import("./data.js").Source["row"]} */
  async row(layer, head, query) {
    return { weights: (await this.line(layer, head, "row", query)).map((weight) => (weight < 0 ? 0 : weight)), exact: true };
  }

  /** @type {import("./data.js").Source["exact"]} */
  async exact(layer, head, query, key) {
    const weight = (await this.line(layer, head, "row", query))[key];
    if (Number.isNaN(weight)) return { value: weight, kind: "nan" };
    return weight < 0 ? { value: 0, kind: "masked" } : { value: weight, kind: "exact" };
  }
}

/** @param {ArrayBuffer} buffer */
export function asJson(buffer) {
  return JSON.parse(new TextDecoder().decode(buffer));
}
