// Drawing a head's map: the map itself, names along both edges, strips, marks, a small map of where one is, a legend.
// Pure drawing: it is handed what to show and a surface to draw it on.

import { MASKED, NOT_A_NUMBER } from "./codec.js";
import { BROKEN, colourAt, css, inkOn, lookup, scaleOf, shareOf } from "./palettes.js";
import { STRINGS, counted, figure } from "./strings.js";
import { widthOf } from "./surface.js";
import { TILE, levelAt } from "./tiles.js";
import { shortened } from "./tokens.js";
import { named } from "./viewport.js";

/** @typedef {import("./surface.js").Surface} Surface */
/** @typedef {import("./headmap.js").HeadMap} HeadMap */
/** @typedef {{ q: number, k: number }} Place */
/** @typedef {Record<"ink" | "quiet" | "line" | "accent" | "page" | "hatch" | "veil" | "shade", string>} Colours */
/**
 * @typedef {object} Scene
 * @property {HeadMap} map
 * @property {HTMLCanvasElement} picture  a pixel for each cell
 * @property {import("./viewport.js").Viewport} viewport
 * @property {import("./palettes.js").Scale} scale
 * @property {number} peak  the largest single weight, where the scale ends from near
 * @property {import("./palettes.js").PaletteName} palette
 * @property {"light" | "dark"} theme
 * @property {boolean} first
 * @property {string[]} queries
 * @property {string[]} keys
 * @property {number | null} query
 * @property {number | null} key
 * @property {Place | null} hover
 * @property {Colours} colours
 * @property {(name: string) => string} say
 */
/** @typedef {{ x: number, y: number, width: number, height: number }} Box */

const LABEL = 12;
const NAMED = 14; // pixels a name needs across its reading direction
const NUMBERED = 30; // pixels of a cell that has room for its weight
const STRIP = 34;
const MANY = 60; // positions from which names come with their numbers

/**
 * Where the map lies on a surface: the rest is for names, strips and the legend.
 * @param {{ width: number, height: number }} size
 * @param {HeadMap} map
 * @param {string[]} queries
 * @param {string[]} keys
 * @returns {Box}
 */
export function mapBox({ width, height }, map, queries, keys) {
  const longest = (/** @type {string[]} */ names, /** @type {number} */ most) =>
    Math.min(Math.max(...sample(names).map((name) => widthOf(shortened(name), LABEL)), 20) + 18, most);
  const narrow = width < 500;
  const numbers = (/** @type {number} */ n) => (n > MANY ? widthOf(counted(n), LABEL) + 8 : 0);
  const strip = map.signed ? 0 : Math.max(...STRINGS.received.map((name) => widthOf(name, 11))) + 14;
  const left = Math.max(longest(queries, narrow ? 84 : 130) + numbers(map.n_q), strip);
  const top = longest(keys, narrow ? 70 : 110) + numbers(map.n_k);
  const right = map.signed ? 12 : STRIP + 30;
  const bottom = map.signed ? 40 : STRIP + 62;
  return { x: left, y: top, width: Math.max(width - left - right, 40), height: Math.max(height - top - bottom, 40) };
}

/**
 * Some of many names: enough to know how long they are.
 * @param {string[]} names
 */
function sample(names) {
  const step = Math.ceil(names.length / 300);
  return names.filter((_, i) => i % step === 0);
}

/**
 * The map as a picture with one pixel for each cell, in colours: 512 × 512 cells take about 2 ms, so that scales,
 * palettes and hiding the first token are instant.
 * @param {HTMLCanvasElement} canvas
 * @param {Pick<Scene, "scale" | "palette" | "theme" | "first"> & { map: Pick<HeadMap, "columns" | "rows" | "codes" | "values"> }} scene
 */
export function paintPicture(canvas, { map, scale, palette, theme, first }) {
  canvas.width = map.columns;
  canvas.height = map.rows;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(map.columns, map.rows);
  const pixels = new Uint32Array(image.data.buffer);
  const colours = lookup(map.values, scale, palette, theme);
  for (let i = 0; i < pixels.length; i++) pixels[i] = colours[map.codes[i]];
  if (!first) for (let i = 0; i < pixels.length; i += map.columns) pixels[i] = 0;
  context.putImageData(image, 0, 0);
}

/**
 * Everything, on a surface.
 * @param {Surface} surface
 * @param {Scene} scene
 * @param {Box} box
 */
export function paintScene(surface, scene, box) {
  const shown = paintBare(surface, scene, box);
  paintNames(surface, scene, box, shown);
  paintStrips(surface, scene, box, shown);
  paintMinimap(surface, scene, box, shown);
  paintLegend(surface, scene, box, shown);
}

/**
 * The map and its marks alone. → the part of the box that it fills
 * @param {Surface} surface
 * @param {Scene} scene
 * @param {Box} box
 */
export function paintBare(surface, scene, box) {
  const shown = shownPart(scene, box);
  surface.fill(shown.x, shown.y, shown.width, shown.height, scene.colours.page);
  surface.clip(shown.x, shown.y, shown.width, shown.height, () => {
    surface.hatch(shown.x, shown.y, shown.width, shown.height, scene.colours.hatch);
    paintCells(surface, scene, box);
    paintMarks(surface, scene, box);
  });
  surface.frame(shown.x - 0.5, shown.y - 0.5, shown.width + 1, shown.height + 1, scene.colours.line);
  return shown;
}

/**
 * The part of the box that the matrix fills.
 * @param {Scene} scene
 * @param {Box} box
 * @returns {Box}
 */
export function shownPart({ map, viewport }, box) {
  return {
    x: box.x,
    y: box.y,
    width: Math.min(box.width, (map.n_k - viewport.x) * viewport.scale),
    height: Math.min(box.height, (map.n_q - viewport.y) * viewport.scale),
  };
}

/**
 * @param {Surface} surface
 * @param {Scene} scene
 * @param {Box} box
 */
function paintCells(surface, scene, box) {
  const { map, viewport } = scene;
  if (map.tiles) paintTiles(surface, scene, box, map.tiles);
  else paintWhole(surface, scene, box);
  if (near(scene)) paintStrongest(surface, scene, box);
  if (viewport.scale >= NUMBERED) paintNumbers(surface, scene, box);
}

/**
 * The picture of the whole map.
 * @param {Surface} surface
 * @param {Scene} scene
 * @param {Box} box
 */
function paintWhole(surface, { map, viewport, picture }, box) {
  const [wide, tall] = [viewport.scale * map.by_k, viewport.scale * map.by_q];
  const left = box.x - viewport.x * viewport.scale;
  const top = box.y - viewport.y * viewport.scale;
  const smooth = Math.min(wide, tall) < 1;
  surface.image(picture, [0, 0, map.columns, map.rows], [left, top, map.columns * wide, map.rows * tall], smooth);
}

/**
 * The tiles in sight, and where one is missing the part of a coarser one, or of the whole map, that it will replace.
 * Each part of the screen is drawn once: masked cells are see-through, and nothing else may be behind them.
 * @param {Surface} surface
 * @param {Scene} scene
 * @param {Box} box
 * @param {import("./tiles.js").Tiles} tiles
 */
function paintTiles(surface, scene, box, tiles) {
  const { map, viewport } = scene;
  const scale = scaleIn(scene);
  const x = (/** @type {number} */ k) => Math.round(box.x + (k - viewport.x) * viewport.scale); // no seams between tiles
  const y = (/** @type {number} */ q) => Math.round(box.y + (q - viewport.y) * viewport.scale);
  for (const { q0, q1, k0, k1, tile } of tiles.see(viewport, box)) {
    const [by_q, by_k] = tile ? [2 ** tile.level, 2 ** tile.level] : [map.by_q, map.by_k];
    const [top, left] = tile ? [tile.row * TILE * by_q, tile.column * TILE * by_k] : [0, 0];
    const from = /** @type {[number, number, number, number]} */ ([(k0 - left) / by_k, (q0 - top) / by_q, (k1 - k0) / by_k, (q1 - q0) / by_q]);
    const picture = tile ? tilePicture(tile, scene, scale) : scene.picture;
    surface.image(picture, from, [x(k0), y(q0), x(k1) - x(k0), y(q1) - y(q0)], viewport.scale * Math.min(by_q, by_k) < 1);
  }
}

/**
 * A tile in colours: painted when they change, 0.3 ms each.
 * @param {import("./tiles.js").Tile} tile
 * @param {Scene} scene
 * @param {import("./palettes.js").Scale} scale
 */
function tilePicture(tile, { palette, theme, first }, scale) {
  const name = `${scale.kind} ${scale.low} ${scale.high} ${palette} ${theme} ${first}`;
  tile.picture ??= document.createElement("canvas");
  if (tile.painted !== name) {
    tile.painted = name;
    paintPicture(tile.picture, { map: tile, scale, palette, theme, first: first || tile.column > 0 });
  }
  return tile.picture;
}

/**
 * Whether single places are drawn in a map of coarse cells.
 * @param {Scene} scene
 */
function near({ map, viewport }) {
  return !map.tiles && !map.single && viewport.scale >= 3;
}

/**
 * What colours mean: means of cells from afar, single weights from near, which are larger.
 * @param {Scene} scene
 */
export function scaleIn(scene) {
  if (scene.map.tiles) return scaleOfLevel(scene, levelAt(scene.viewport.scale, scene.map.tiles.levels), scene.map.tiles.base);
  if (!near(scene) || !(scene.peak > 0)) return scene.scale;
  return { ...scaleOf(scene.scale.kind, scene.scale.low, scene.peak), signed: scene.scale.signed };
}

/**
 * Finer cells hold larger weights: the end of the scale goes, level by level, from the largest mean of the whole map to
 * the largest weight there is. So what is in sight never changes what colours mean.
 * @param {Scene} scene
 * @param {number} level
 * @param {number} base
 */
function scaleOfLevel({ peak, scale }, level, base) {
  if (level >= base || !(peak > scale.high)) return scale;
  return { ...scaleOf(scale.kind, scale.low, scale.high * (peak / scale.high) ** (1 - level / base)), signed: scale.signed };
}

/**
 * Positions that are in sight, first and one past the last.
 * @param {Scene} scene
 * @param {Box} box
 */
function inSight({ map, viewport }, box) {
  return {
    q0: Math.floor(viewport.y),
    q1: Math.min(Math.ceil(viewport.y + box.height / viewport.scale), map.n_q),
    k0: Math.floor(viewport.x),
    k1: Math.min(Math.ceil(viewport.x + box.width / viewport.scale), map.n_k),
  };
}

/**
 * In maps of coarse cells, the single places that are known exactly. The cells, which are no single weight, fade.
 * @param {Surface} surface
 * @param {Scene} scene
 * @param {Box} box
 */
function paintStrongest(surface, scene, box) {
  const { map, viewport, palette, theme, first, colours } = scene;
  const scale = scaleIn(scene);
  const { q0, q1, k0, k1 } = inSight(scene, box);
  surface.fill(box.x, box.y, box.width, box.height, colours.veil);
  for (let i = q0 * map.keys; i < q1 * map.keys; i++) {
    const key = map.topIndices?.[i] ?? 0;
    if (key < k0 || key >= k1 || (!first && key === 0)) continue;
    const x = box.x + (key - viewport.x) * viewport.scale;
    const y = box.y + (Math.floor(i / map.keys) - viewport.y) * viewport.scale;
    const colour = colourAt(palette, theme, shareOf(scale, map.topWeights?.[i] ?? 0));
    surface.fill(x, y, viewport.scale, viewport.scale, css(colour));
  }
}

/**
 * @param {Surface} surface
 * @param {Scene} scene
 * @param {Box} box
 */
function paintNumbers(surface, scene, box) {
  const { map, viewport, palette, theme, first } = scene;
  const scale = scaleIn(scene);
  const { q0, q1, k0, k1 } = inSight(scene, box);
  const size = Math.min(Math.round(viewport.scale / 3.1), 14);
  for (let q = q0; q < q1; q++) {
    for (let k = k0; k < k1; k++) {
      const { value, kind } = map.weight(q, k);
      if (kind === "masked" || (!first && k === 0) || (kind === "mean" && !map.single)) continue;
      const colour = colourAt(palette, theme, shareOf(scale, value));
      const text = value !== 0 && Math.abs(value) < 0.005 ? "·" : figure(value, viewport.scale >= 64 ? 3 : 2).replace(/^(-?)0\./u, "$1.");
      const x = box.x + (k + 0.5 - viewport.x) * viewport.scale;
      const y = box.y + (q + 0.5 - viewport.y) * viewport.scale;
      surface.text(text, x, y, inkOn(colour), { size, align: "center" });
    }
  }
}

/**
 * The chosen query, the pinned key, and what is under the pointer.
 * @param {Surface} surface
 * @param {Scene} scene
 * @param {Box} box
 */
function paintMarks(surface, { map, viewport, query, key, hover, colours }, box) {
  const { scale } = viewport;
  const [right, below] = [map.n_k * scale, map.n_q * scale];
  const x = (/** @type {number} */ k) => box.x + (k - viewport.x) * scale;
  const y = (/** @type {number} */ q) => box.y + (q - viewport.y) * scale;
  const thick = Math.max(scale, 2);
  if (hover) {
    surface.frame(x(0), y(hover.q), right, thick, colours.quiet, 0.75);
    surface.frame(x(hover.k), y(0), thick, below, colours.quiet, 0.75);
  }
  if (query !== null) surface.frame(x(0) - 2, y(query), right + 4, thick, colours.accent, 1.75);
  if (key !== null) surface.frame(x(key), y(0) - 2, thick, below + 4, colours.accent, 1.75);
  if (hover && scale >= 4) surface.frame(x(hover.k), y(hover.q), scale, scale, colours.ink, 2);
}

/**
 * Names along both edges: thinned so that none touches another, the chosen ones always there.
 * @param {Surface} surface
 * @param {Scene} scene
 * @param {Box} box
 * @param {Box} shown
 */
function paintNames(surface, scene, box, shown) {
  const { viewport, queries, keys, query, key, hover, colours } = scene;
  const { q0, q1, k0, k1 } = inSight(scene, box);
  const chosenQ = [query, hover?.q ?? null];
  const chosenK = [key, hover?.k ?? null];
  const rows = named(q0, q1, viewport.scale, NAMED);
  const widest = Math.max(...keys.slice(k0, Math.min(k1, k0 + 200)).map((name) => widthOf(shortened(name), LABEL)), 8);
  const level = widest + 4 <= viewport.scale;
  const columns = named(k0, k1, viewport.scale, NAMED);
  for (const q of placed(rows.positions, chosenQ, q0, q1, viewport.scale)) {
    const y = box.y + (q + 0.5 - viewport.y) * viewport.scale;
    const strong = chosenQ.includes(q);
    if (y < box.y || y > box.y + box.height) continue;
    const number = queries.length > MANY ? counted(q) : "";
    const room = number ? widthOf(counted(queries.length), LABEL) + 8 : 0;
    surface.text(number, box.x - 7, y, strong ? colours.accent : colours.quiet, { size: LABEL - 1, align: "right" });
    surface.text(shortened(queries[q]), box.x - 7 - room, y, strong ? colours.accent : colours.ink, {
      size: LABEL, align: "right", weight: strong ? 700 : 400, limit: box.x - 12 - room,
    });
  }
  for (const k of placed(columns.positions, chosenK, k0, k1, viewport.scale)) {
    const x = box.x + (k + 0.5 - viewport.x) * viewport.scale;
    const strong = chosenK.includes(k);
    if (x < box.x || x > box.x + box.width) continue;
    const options = { size: LABEL, weight: strong ? 700 : 400, limit: level ? viewport.scale : box.y - 14 };
    const colour = strong ? colours.accent : colours.ink;
    const room = keys.length > MANY ? widthOf(counted(keys.length), LABEL) + 8 : 0;
    if (level || (!room && [...keys[k]].length === 1)) { // a syllable is never turned
      surface.text(shortened(keys[k]), x, box.y - 12, colour, { ...options, align: "center" });
      continue;
    }
    if (room) surface.text(counted(k), x, box.y - 7, strong ? colour : colours.quiet, { size: LABEL - 1, turned: true });
    surface.text(shortened(keys[k]), x, box.y - 7 - room, colour, { ...options, turned: true, limit: options.limit - room });
  }
  surface.text(`${scene.say("query")} ↓   ${scene.say("key")} →`, 4, 8, colours.quiet, { size: 11, limit: shown.x + shown.width });
}

/**
 * Positions to name, with the chosen ones in the place of those that they would touch.
 * @param {number[]} positions
 * @param {(number | null)[]} chosen
 * @param {number} start
 * @param {number} end
 * @param {number} scale
 * @returns {number[]}
 */
export function placed(positions, chosen, start, end, scale) {
  const wanted = chosen.filter((at) => at !== null && at >= start && at < end);
  /** @type {number[]} */
  const kept = [];
  for (const at of /** @type {number[]} */ (wanted).reverse()) {
    if (kept.every((other) => other === at || Math.abs(other - at) * scale >= NAMED) && !kept.includes(at)) kept.push(at);
  }
  const others = positions.filter((at) => kept.every((other) => Math.abs(other - at) * scale >= NAMED));
  return [...others, ...kept];
}

/**
 * Entropy of the queries at the right, attention that keys receive below.
 * @param {Surface} surface
 * @param {Scene} scene
 * @param {Box} box
 * @param {Box} shown
 */
function paintStrips(surface, scene, box, shown) {
  const { map, viewport, colours } = scene;
  if (map.signed) return;
  const [x, y] = [shown.x + shown.width + 8, shown.y + shown.height + 8];
  const most = (/** @type {Float32Array} */ values, /** @type {number} */ from) =>
    values.reduce((best, value, i) => (i >= from && value > best ? value : best), 1e-12);
  const skipped = scene.first ? 0 : 1;
  surface.clip(x, shown.y, STRIP, shown.height, () => {
    const largest = most(map.entropy, 0);
    bars(map.entropy, map.by_q, viewport.y, viewport.scale, shown.height, largest, (at, thick, share) =>
      surface.fill(x, shown.y + at, Math.max(share * STRIP, 0.5), thick, colours.quiet),
    );
  });
  surface.clip(shown.x, y, shown.width, STRIP, () => {
    const largest = most(map.received, skipped);
    bars(map.received, map.by_k, viewport.x, viewport.scale, shown.width, largest, (at, thick, share, i) => {
      if (i >= skipped) surface.fill(shown.x + at, y, thick, Math.max(share * STRIP, 0.5), colours.quiet);
    });
  });
  surface.text(scene.say("entropy"), x, shown.y + shown.height + 12, colours.quiet, { size: 11 });
  surface.text(scene.say("received"), shown.x - 7, y + 8, colours.quiet, { size: 11, align: "right", limit: box.x - 10 });
}

/**
 * Bars along an edge; where many fall on a pixel, the largest stands for them.
 * @param {Float32Array} values
 * @param {number} by
 * @param {number} start
 * @param {number} scale
 * @param {number} length
 * @param {number} largest
 * @param {(at: number, thick: number, share: number, i: number) => void} draw
 */
export function bars(values, by, start, scale, length, largest, draw) {
  const thick = by * scale;
  const each = Math.max(Math.ceil(1 / thick), 1);
  const first = Math.floor(start / by / each) * each;
  for (let i = first; i < values.length && (i * by - start) * scale < length; i += each) {
    let best = 0;
    for (let j = i; j < Math.min(i + each, values.length); j++) if (values[j] > best) best = values[j];
    const gap = thick >= 8 ? 1 : 0;
    draw((i * by - start) * scale, Math.max(thick * each - gap, 1), Math.min(best / largest, 1), i);
  }
}

/**
 * Where one is, once one has zoomed in.
 * @param {Surface} surface
 * @param {Scene} scene
 * @param {Box} box
 * @param {Box} shown
 */
function paintMinimap(surface, scene, box, shown) {
  const { map, viewport, colours, picture } = scene;
  const whole = viewport.scale * Math.max(map.n_q / box.height, map.n_k / box.width);
  if (whole < 1.3) return;
  const side = Math.min(110, box.width / 3, box.height / 3);
  const by = side / Math.max(map.n_q, map.n_k);
  const [wide, tall] = [map.n_k * by, map.n_q * by];
  const [x, y] = [shown.x + shown.width - wide - 10, shown.y + shown.height - tall - 10];
  surface.fill(x - 3, y - 3, wide + 6, tall + 6, colours.page);
  surface.image(picture, [0, 0, map.n_k / map.by_k, map.n_q / map.by_q], [x, y, wide, tall], true);
  surface.frame(x - 3, y - 3, wide + 6, tall + 6, colours.line);
  const part = [viewport.x * by, viewport.y * by, (shown.width / viewport.scale) * by, (shown.height / viewport.scale) * by];
  surface.frame(x + part[0], y + part[1], Math.max(part[2], 3), Math.max(part[3], 3), colours.accent, 2);
}

/**
 * A bar of all colours, and what its ends stand for.
 * @param {Surface} surface
 * @param {Pick<Scene, "scale" | "palette" | "theme" | "colours">} scene
 * @param {{ x: number, y: number, width: number }} place
 */
export function paintScale(surface, { scale, palette, theme, colours }, { x, y, width }) {
  const steps = 64;
  for (let i = 0; i < steps; i++) {
    surface.fill(x + (i / steps) * width, y, width / steps + 0.5, 9, css(colourAt(palette, theme, i / (steps - 1))));
  }
  surface.frame(x - 0.5, y - 0.5, width + 1, 10, colours.line);
  const low = scale.signed ? `−${figure(scale.high, 2)}` : scale.kind === "log" ? figure(scale.low, 2) : "0";
  surface.text(low, x, y + 18, colours.quiet, { size: 11 });
  surface.text(`${scale.signed ? "+" : ""}${figure(scale.high, 2)}`, x + width, y + 18, colours.quiet, { size: 11, align: "right" });
}

/**
 * What colours mean, masked and odd places included, and what a cell is.
 * @param {Surface} surface
 * @param {Scene} scene
 * @param {Box} box
 * @param {Box} shown
 */
function paintLegend(surface, scene, box, shown) {
  const { map, palette, theme, colours } = scene;
  const scale = scaleIn(scene);
  const y = shown.y + shown.height + (map.signed ? 8 : STRIP + 24);
  const width = Math.min(170, Math.max(shown.width * 0.4, 90));
  paintScale(surface, { scale, palette, theme, colours }, { x: shown.x, y, width });
  let x = shown.x + width + 16;
  const says = [scene.say(`${scale.signed ? "difference" : "legend"}_${scale.kind}`), ...(scene.first ? [] : [scene.say("first_hidden")])].join(" · ");
  surface.text(says, x, y + 5, colours.quiet, { size: 11 });
  x += widthOf(says, 11) + 18;
  for (const [code, name] of /** @type {[number, string][]} */ ([[MASKED, "masked"], [NOT_A_NUMBER, "nan"]])) {
    if (!map.codes.includes(code)) continue;
    if (code === MASKED) surface.hatch(x, y - 2, 14, 14, colours.hatch);
    else surface.fill(x, y - 2, 14, 14, css(BROKEN[theme]));
    surface.frame(x - 0.5, y - 2.5, 15, 15, colours.line);
    surface.text(scene.say(name), x + 20, y + 5, colours.quiet, { size: 11 });
    x += 36 + widthOf(scene.say(name), 11);
  }
}
