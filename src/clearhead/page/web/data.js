// Where the data come from. A page is a file, is served, or is a widget: only this module knows which.

import { arraysIn, fromBase64, inflated } from "./codec.js";
import { HeadMap } from "./headmap.js";
import { RemoteSource, asJson, askServer, askThrough } from "./remote.js";

/** @typedef {import("./headmap.js").LayerInfo} LayerInfo */
/**
 * @typedef {object} Header
 * @property {number} version
 * @property {string} dress
 * @property {string} title
 * @property {string} language
 * @property {string[]} traces  what the traces are called
 * @property {{ rows: number, columns: number, special: number }[]} images  how each is cut into patches
 * @property {LayerInfo[]} layers
 * @property {number} keys  how many of each query's strongest keys are exact; 0 where every weight is
 * @property {Record<string, import("./codec.js").Described[]>} chunks
 */
/**
 * What views ask; each dress answers it.
 * @typedef {object} Source
 * @property {Header} header
 * @property {() => Promise<string[][]>} tokens  every list of labels
 * @property {(layer: number) => Promise<Uint8Array[]>} stamps  the small maps of a layer's heads, as codes
 * @property {(layer: number, head: number) => Promise<HeadMap>} head
 * @property {(wanted: { layer: number, head: number }[]) => void} callOff  heads other than these need not be opened any more
 * @property {(layer: number, head: number, query: number) => Promise<{ weights: Float32Array, exact: boolean }>} row  all weights of a query, 0 where masked
 * @property {(layer: number, head: number, query: number, key: number) => Promise<import("./headmap.js").Weight>} exact  one weight, as exact as it can be had
 * @property {(() => void)[]} onNews  who wants to hear that more of an open head is known
 * @property {(number: number) => Promise<{ pixels: Uint8Array, height: number, width: number }>} image
 */

const KEPT = 24; // heads whose maps stay open

/**
 * The data of a page, whatever its dress.
 * @param {Document} page
 * @returns {Promise<Source>}
 */
export async function openSource(page) {
  const header = /** @type {Header} */ (JSON.parse(textOf(page, "header")));
  if (header.dress === "file") return new FileSource(page, header);
  if (header.dress !== "server" && header.dress !== "widget") throw new Error(`a page is a file, served or a widget, got ${header.dress}`);
  const ask = header.dress === "server" ? askServer : askThrough(await portFromOutside());
  return new RemoteSource(asJson(await ask("trace")), ask);
}

/**
 * The port that whoever put the page into a notebook hands to it.
 * @returns {Promise<MessagePort>}
 */
function portFromOutside() {
  return new Promise((resolve) => {
    addEventListener("message", function received(event) {
      if (event.source !== parent || event.data !== "clearhead port" || !event.ports.length) return;
      removeEventListener("message", received);
      resolve(event.ports[0]);
    });
    parent.postMessage("clearhead ready", "*");
  });
}

/**
 * @param {Document} page
 * @param {string} id
 */
function textOf(page, id) {
  const text = page.getElementById(id)?.textContent;
  if (!text) throw new Error(`the page has no ${id}`);
  return text;
}

/** Chunks that are written in the page itself. One is opened when it is first asked for. */
class FileSource {
  /**
   * @param {Document} page
   * @param {Header} header
   */
  constructor(page, header) {
    this.page = page;
    this.header = header;
    /** @type {Map<string, Promise<HeadMap>>} */
    this.heads = new Map();
    /** @type {string[]} */
    this.opened = []; // for those who want to know what was looked at
    /** @type {(() => void)[]} */
    this.onNews = []; // a file has no more to tell
  }

  /** A head of a file is open as soon as it is asked for. */
  callOff() {}

  /** @type {Source["row"]} */
  async row(layer, head, query) {
    const map = await this.head(layer, head);
    return { weights: map.row(query), exact: map.exact };
  }

  /** @type {Source["exact"]} */
  async exact(layer, head, query, key) {
    return (await this.head(layer, head)).weight(query, key);
  }

  /** @param {string} name */
  async chunk(name) {
    this.opened.push(name);
    return inflated(fromBase64(textOf(this.page, `chunk-${name}`)));
  }

  /** @returns {Promise<string[][]>} */
  async tokens() {
    return JSON.parse(new TextDecoder().decode(await this.chunk("tokens")));
  }

  /** @param {number} layer */
  async stamps(layer) {
    const name = `${layer}.stamps`;
    const described = this.header.chunks[name];
    const all = /** @type {Uint8Array} */ (arraysIn(await this.chunk(name), described).get("stamps"));
    const [count] = described[0][2];
    const size = all.length / count;
    return Array.from({ length: count }, (_, head) => all.subarray(head * size, (head + 1) * size));
  }

  /** @param {number} number */
  async image(number) {
    const name = `image.${number}`;
    const described = this.header.chunks[name];
    const pixels = /** @type {Uint8Array} */ (arraysIn(await this.chunk(name), described).get("pixels"));
    const [height, width] = described[0][2];
    return { pixels, height, width };
  }

  /**
   * @param {number} layer
   * @param {number} head
   */
  head(layer, head) {
    const name = `${layer}.${head}`;
    let found = this.heads.get(name);
    if (!found) {
      const info = this.header.layers[layer];
      found = this.chunk(name).then(
        (buffer) => new HeadMap(info, info.heads[head], arraysIn(buffer, this.header.chunks[name])),
      );
      for (const old of this.heads.keys()) if (this.heads.size >= KEPT) this.heads.delete(old);
    } else this.heads.delete(name); // to the end: the last one asked for goes last
    this.heads.set(name, found);
    return found;
  }
}
