// Taking something away: what is seen as a picture or a drawing, the weights in view as a table, a link.

import { coloursOf } from "./pane.js";
import { title } from "./panel.js";
import { CanvasSurface, SvgSurface } from "./surface.js";

/** @typedef {import("./context.js").Context} Context */
/** @typedef {"png" | "svg" | "csv"} Format */

const MARGIN = 16;
const HEADING = 44;
const MOST = 1_000_000; // weights in a table

/**
 * A view, as far as it can be taken away: its size, and itself on another surface.
 * @typedef {object} Drawn
 * @property {HTMLElement} root
 * @property {{ width: number, height: number }} seen
 * @property {(surface: CanvasSurface | SvgSurface) => void} copy
 */

/**
 * What is seen, with what it is of and its legend.
 * @param {Context} context
 * @param {Drawn} view
 * @param {import("./pane.js").MapPane} pane  whose window says which weights are in view
 * @param {Format} format
 * @returns {Promise<{ name: string, blob: Blob }>}
 */
export async function exported(context, view, pane, format) {
  const name = [title(context), context.view === "map" ? "" : context.view].join(" ").trim().replace(/[^\p{L}\p{N}]+/gu, "-").toLowerCase();
  if (format === "csv") return { name: `${name}.csv`, blob: new Blob(["\ufeff", table(context, pane)], { type: "text/csv" }) };
  const [width, height] = [view.seen.width + 2 * MARGIN, view.seen.height + HEADING + MARGIN];
  if (format === "svg") {
    const surface = new SvgSurface(width, height);
    paint(surface, context, view);
    return { name: `${name}.svg`, blob: new Blob([surface.toString()], { type: "image/svg+xml" }) };
  }
  const canvas = document.createElement("canvas");
  paint(new CanvasSurface(canvas, width, height, Math.max(devicePixelRatio, 2)), context, view);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  return { name: `${name}.png`, blob: /** @type {Blob} */ (blob) };
}

/**
 * @param {CanvasSurface | SvgSurface} surface
 * @param {Context} context
 * @param {Drawn} view
 */
function paint(surface, context, view) {
  const colours = coloursOf(view.root);
  surface.fill(0, 0, surface.width, surface.height, colours.page);
  surface.text(title(context), MARGIN, 20, colours.ink, { size: 15, weight: 700 });
  surface.text(context.source.header.title, surface.width - MARGIN, 20, colours.quiet, { size: 12, align: "right", limit: surface.width / 2 });
  moved(surface, MARGIN, HEADING, () => view.copy(surface));
}

/**
 * Draw with the corner elsewhere.
 * @param {CanvasSurface | SvgSurface} surface
 * @param {number} x
 * @param {number} y
 * @param {() => void} draw
 */
export function moved(surface, x, y, draw) {
  if (surface instanceof CanvasSurface) {
    surface.context.save();
    surface.context.translate(x, y);
    draw();
    surface.context.restore();
    return;
  }
  const before = surface.group;
  surface.group = surface.add("g", { transform: `translate(${x} ${y})` });
  draw();
  surface.group = before;
}

/**
 * The weights in view, a row for each place: queries and keys with their tokens, and whether the weight is exact; where
 * heads are compared, the other's too.
 * @param {Context} context
 * @param {import("./pane.js").MapPane} pane
 */
export function table(context, pane) {
  const { map, otherMap } = context;
  if (!map) return "";
  const { x, y, scale } = pane.viewport;
  const { width, height } = pane.box;
  const [q1, k1] = [Math.min(Math.ceil(y + height / scale), map.n_q), Math.min(Math.ceil(x + width / scale), map.n_k)];
  const [queries, keys] = [context.labels("query"), context.labels("key")];
  const lines = [`query,query_token,key,key_token,weight,kind${otherMap ? ",other_weight,other_kind" : ""}`];
  const [step_q, step_k] = map.exact || map.single ? [1, 1] : [map.by_q, map.by_k];
  for (let q = Math.floor(y); q < q1 && lines.length < MOST; q += step_q) {
    for (let k = Math.floor(x); k < k1 && lines.length < MOST; k += step_k) {
      const said = [map, ...(otherMap ? [otherMap] : [])].flatMap((one) => {
        const { value, kind } = one.weight(q, k);
        return [kind === "masked" ? "" : value, kind];
      });
      lines.push([q, quoted(queries[q]), k, quoted(keys[k]), ...said].join(","));
    }
  }
  return `${lines.join("\r\n")}\r\n`;
}

/**
 * A token in a table. One that a spreadsheet would take for a formula gets a quote before it.
 * @param {string} token
 */
export function quoted(token) {
  const safe = /^[=+\-@\t\r]/u.test(token) ? `'${token}` : token;
  return `"${safe.replaceAll('"', '""')}"`;
}

/**
 * Hand a file to whoever reads the page.
 * @param {{ name: string, blob: Blob }} file
 */
export function save({ name, blob }) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
