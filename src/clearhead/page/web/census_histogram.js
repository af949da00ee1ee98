// A histogram as a drawing: bars over fixed bins, and what each holds, told to whoever points at it or cannot see it.

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 92;
const BASE = 76; // where bars stand; below are the ends of the axis

/**
 * @typedef {object} Histogram
 * @property {string} name
 * @property {number[]} bars  shares of the whole
 * @property {number[] | null} [behind]  those of another model, drawn as an outline
 * @property {(bin: number) => string} told  what a bar stands for
 * @property {[at: number, text: string][]} marks  texts below the axis, at shares of its width
 * @property {number | null} [mean]  a place of the axis that is marked, as a share of its width
 */

/**
 * @param {Histogram} histogram
 * @param {number} width
 * @returns {SVGElement}
 */
export function drawn({ name, bars, behind = null, told, marks, mean = null }, width) {
  const most = Math.max(...bars, ...(behind ?? []), 1e-9);
  const wide = width / bars.length;
  const image = made("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, class: "histogram", role: "img", "aria-label": name });
  bars.forEach((share, bin) => {
    const high = share > 0 ? Math.max((BASE - 4) * (share / most), 1) : 0;
    const bar = made("g", {});
    const tip = made("title", {});
    tip.textContent = told(bin);
    const hit = made("rect", { x: bin * wide, y: 0, width: wide, height: BASE, class: "hit" });
    const fill = made("rect", { x: bin * wide + 0.5, y: BASE - high, width: Math.max(wide - 1, 0.5), height: high, class: "bar-of" });
    bar.append(tip, hit, fill);
    image.append(bar);
  });
  if (behind) {
    const steps = behind.map((share, bin) => `H${bin * wide} V${BASE - (BASE - 4) * (share / most)} H${(bin + 1) * wide}`);
    image.append(made("path", { d: `M0 ${BASE} ${steps.join(" ")} V${BASE}`, class: "behind" }));
  }
  image.append(made("line", { x1: 0, x2: width, y1: BASE, y2: BASE, class: "axis" }));
  if (mean !== null) image.append(made("line", { x1: mean * width, x2: mean * width, y1: 2, y2: BASE, class: "mean" }));
  for (const [at, text] of marks) {
    const anchor = at < 0.02 ? "start" : at > 0.98 ? "end" : "middle";
    const label = made("text", { x: at * width, y: HEIGHT - 3, "text-anchor": anchor });
    label.textContent = text;
    image.append(label);
  }
  return image;
}

/**
 * Counts as shares of their sum.
 * @param {number[]} counts
 */
export function shares(counts) {
  const whole = counts.reduce((sum, count) => sum + count, 0);
  return counts.map((count) => (whole ? count / whole : 0));
}

/**
 * The first and the last distance of a bin that doubles: 0, 1, 2 to 3, 4 to 7 …
 * @param {number} bin
 * @returns {[number, number]}
 */
export function doubling(bin) {
  return bin === 0 ? [0, 0] : [2 ** (bin - 1), 2 ** bin - 1];
}

/**
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 * @returns {SVGElement}
 */
function made(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}
