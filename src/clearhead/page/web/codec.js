// How numbers travel: base64, deflate and little-endian arrays, and a weight as one byte. packing.py writes all of this.

/** @typedef {[name: string, type: string, shape: number[]]} Described */
/** @typedef {Uint8Array | Uint16Array | Uint32Array | Float32Array} Numbers */

export const MASKED = 0;
export const ZERO = 1;
export const LOWEST = 2;
export const HIGHEST = 254;
export const NOT_A_NUMBER = 255;

/**
 * The bytes of a base64 text.
 * @param {string} text
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function fromBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/**
 * What was deflated.
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @returns {Promise<ArrayBuffer>}
 */
export async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

/**
 * The arrays that lie one after the other in a buffer.
 * @param {ArrayBuffer} buffer
 * @param {Described[]} described
 * @returns {Map<string, Numbers>}
 */
export function arraysIn(buffer, described) {
  const arrays = new Map();
  let at = 0;
  for (const [name, type, shape] of described) {
    const count = shape.reduce((all, size) => all * size, 1);
    const end = at + count * Number(type[1]);
    if (end > buffer.byteLength) throw new RangeError(`${name} ends at byte ${end} of ${buffer.byteLength}`);
    arrays.set(name, typed(type, buffer.slice(at, end)));
    at = end;
  }
  return arrays;
}

/**
 * The arrays of an answer, and what else it says; answers.py frames them.
 * @param {ArrayBuffer} buffer
 * @returns {{ told: { arrays: Described[], low?: number, high?: number }, arrays: Map<string, Numbers> }}
 */
export function unframed(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const told = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return { told, arrays: arraysIn(buffer.slice(4 + length), told.arrays) };
}

/**
 * @param {string} type
 * @param {ArrayBuffer} buffer
 * @returns {Numbers}
 */
function typed(type, buffer) {
  if (type === "u1") return new Uint8Array(buffer);
  const view = new DataView(buffer); // little-endian on any machine
  if (type === "u2") return Uint16Array.from({ length: view.byteLength / 2 }, (_, i) => view.getUint16(2 * i, true));
  if (type === "u4") return Uint32Array.from({ length: view.byteLength / 4 }, (_, i) => view.getUint32(4 * i, true));
  if (type !== "f4") throw new TypeError(`arrays are u1, u2, u4 or f4, got ${type}`);
  const values = new Float32Array(view.byteLength / 4);
  for (let i = 0; i < values.length; i++) values[i] = view.getFloat32(4 * i, true);
  return values;
}

/**
 * What each of the 256 codes stands for: NaN for those that are no weight.
 * @param {number} low
 * @param {number} high
 * @returns {Float64Array}
 */
export function codeValues(low, high) {
  const values = new Float64Array(256).fill(NaN);
  values[ZERO] = 0;
  for (let code = LOWEST; code <= HIGHEST; code++) {
    values[code] = low * (high / low) ** ((code - LOWEST) / (HIGHEST - LOWEST));
  }
  return values;
}

/**
 * Exact weights as codes, for drawing; a negative one is masked.
 * @param {Float32Array} weights
 * @param {number} low
 * @param {number} high
 * @returns {Uint8Array}
 */
export function encoded(weights, low, high) {
  const codes = new Uint8Array(weights.length);
  const perStep = (HIGHEST - LOWEST) / Math.log(high / low);
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i];
    if (Number.isNaN(weight)) codes[i] = NOT_A_NUMBER;
    else if (weight < 0) codes[i] = MASKED;
    else if (weight < low * 0.999) codes[i] = ZERO;
    else codes[i] = Math.min(Math.max(Math.round(Math.log(weight / low) * perStep), 0) + LOWEST, HIGHEST);
  }
  return codes;
}
