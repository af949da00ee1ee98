// A map on the page that can be panned and zoomed: of a head, of a mean, or of a difference. mappaint.js draws it.

import { element, onceAFrame } from "./context.js";
import { listen } from "./gestures.js";
import { mapBox, paintBare, paintPicture, paintScene } from "./mappaint.js";
import { scaleOf } from "./palettes.js";
import { CanvasSurface } from "./surface.js";
import { fit, kept, showing, zoomed } from "./viewport.js";

/** @typedef {import("./context.js").Context} Context */
/** @typedef {import("./viewport.js").Viewport} Viewport */
/** @typedef {import("./mappaint.js").Scene} Scene */

const PICTURED = ["scale", "palette", "first", "theme"];

/**
 * The colours that the style gives to a drawing.
 * @param {Element} at
 * @returns {import("./mappaint.js").Colours}
 */
export function coloursOf(at) {
  const style = getComputedStyle(at);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: colour("ink"), quiet: colour("quiet"), line: colour("line"), accent: colour("accent"), page: colour("panel"),
    hatch: colour("hatch"), veil: colour("veil"), shade: colour("shade"),
  };
}

/**
 * How much larger than usual letters are: drawings grow with them on large screens.
 * @param {Element} at
 */
export function unitOf(at) {
  return parseFloat(getComputedStyle(at).fontSize) / 14 || 1;
}

export class MapPane {
  /**
   * @param {Context} context
   * @param {object} options
   * @param {import("./state.js").ViewName} options.view  the view it is part of: it draws only while that is shown
   * @param {() => import("./headmap.js").HeadMap | null} options.map
   * @param {() => MapPane} [options.leader]  the pane whose window the state holds, where several move together
   * @param {boolean} [options.bare]  without names, strips and legend
   */
  constructor(context, { view, map, leader, bare = false }) {
    this.context = context;
    this.view = view;
    this.mapOf = map;
    this.leader = leader ?? (() => this);
    this.bare = bare;
    this.canvas = element("canvas", { tabindex: "0", role: "img" });
    this.picture = document.createElement("canvas");
    /** @type {Viewport} */
    this.viewport = { x: 0, y: 0, scale: 1 };
    this.size = { width: 0, height: 0 };
    this.unit = 1;
    /** @type {{ map: object, size: object, box: import("./mappaint.js").Box } | null} */
    this.boxed = null;
    this.onFrame = onceAFrame(() => this.draw());
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    context.onMap.push(() => this.open());
    context.onHover.push(() => this.request());
    context.store.listen((changed) => this.change(changed));
    listen(this.canvas, this);
  }

  get map() {
    return this.mapOf();
  }

  get extent() {
    const { n_q, n_k } = this.context.layer;
    return { n_q, n_k };
  }

  /** Where the map lies; it is asked for many times a frame, so it is kept until the size or the head is another. */
  get box() {
    const { map, size } = this;
    if (!map) return { x: 0, y: 0, width: 1, height: 1 };
    if (this.boxed?.map !== map || this.boxed.size !== size) {
      const whole = { x: 2, y: 2, width: Math.max(size.width - 4, 1), height: Math.max(size.height - 4, 1) };
      this.boxed = { map, size, box: this.bare ? whole : mapBox(size, map, this.context.labels("query"), this.context.labels("key")) };
    }
    return this.boxed.box;
  }

  /** @param {Set<keyof import("./state.js").State>} changed */
  change(changed) {
    const { state } = this.context;
    if (PICTURED.some((name) => changed.has(/** @type {keyof typeof state} */ (name)))) this.repaint();
    if (changed.has("window") || changed.has("view")) this.place();
    else if ((changed.has("query") || changed.has("key")) && this.leader() === this) {
      const moved = showing(this.viewport, { q: state.query, k: state.key }, this.extent, this.box);
      if (state.window && (moved.x !== this.viewport.x || moved.y !== this.viewport.y)) this.look(moved);
    }
    this.request();
  }

  /** A head was opened: the window stays where the matrix is as large as before. */
  open() {
    this.repaint();
    this.place();
  }

  resize() {
    this.unit = unitOf(this.canvas);
    this.size = { width: this.canvas.clientWidth / this.unit, height: this.canvas.clientHeight / this.unit };
    this.place();
  }

  /** How much smaller than in the leader a position is here. */
  get ratio() {
    const leader = this.leader();
    return leader === this ? 1 : fit(this.extent, this.box).scale / fit(this.extent, leader.box).scale;
  }

  /** Take the window from the state. */
  place() {
    const { window } = this.context.state;
    const wanted = window ? { x: window[0], y: window[1], scale: window[2] * this.ratio } : fit(this.extent, this.box);
    this.viewport = kept(wanted, this.extent, this.box);
    this.request();
  }

  /**
   * Show a part, and put it into the state: all of it is no window.
   * @param {Viewport} viewport
   */
  look(viewport) {
    const whole = fit(this.extent, this.box);
    const all = viewport.scale <= whole.scale * 1.001;
    this.viewport = all ? whole : viewport;
    this.context.store.set({ window: all ? null : [viewport.x, viewport.y, viewport.scale / this.ratio] });
    this.request();
  }

  /**
   * @param {number} factor
   * @param {{ x: number, y: number }} [point]
   */
  zoom(factor, point) {
    const { width, height } = this.box;
    const { query, key } = this.context.state;
    const { x, y, scale } = this.viewport;
    const middle = {
      x: key === null ? Math.min(width, this.extent.n_k * scale) / 2 : (key + 0.5 - x) * scale,
      y: query === null ? Math.min(height, this.extent.n_q * scale) / 2 : (query + 0.5 - y) * scale,
    };
    this.look(zoomed(this.viewport, factor, point ?? middle, this.extent, this.box));
  }

  /** The colours of the map have changed. */
  repaint() {
    const { map } = this;
    const { state, theme } = this.context;
    if (!map) return;
    this.scale = this.scaleFor(map);
    paintPicture(this.picture, { map, scale: this.scale, palette: this.palette, theme, first: state.first });
  }

  /**
   * @param {import("./headmap.js").HeadMap} map
   * @returns {import("./palettes.js").Scale}
   */
  scaleFor(map) {
    const { state } = this.context;
    return { ...scaleOf(state.scale, map.low, map.largest(!state.first) || map.high), signed: map.signed };
  }

  /**
   * The largest single weight, as far as it is known: where the scale ends from near.
   * @param {import("./headmap.js").HeadMap} map
   */
  peakOf(map) {
    return map.peak;
  }

  /** @returns {import("./palettes.js").PaletteName} */
  get palette() {
    return this.map?.signed ? "difference" : this.context.state.palette;
  }

  /** Draw before the next frame, once, however often it is asked for. */
  request() {
    if (this.context.view === this.view) this.onFrame();
  }

  draw() {
    const scene = this.scene();
    if (!scene || !this.size.width || !this.size.height) return;
    const surface = new CanvasSurface(this.canvas, this.size.width, this.size.height, devicePixelRatio * this.unit);
    this.paint(surface, scene);
    const { say, layer } = this.context;
    this.canvas.setAttribute("aria-label", say("map_name", { queries: layer.n_q, keys: layer.n_k }));
  }

  /**
   * @param {import("./surface.js").Surface} surface
   * @param {Scene} scene
   */
  paint(surface, scene) {
    if (this.bare) paintBare(surface, scene, this.box);
    else paintScene(surface, scene, this.box);
  }

  /** @returns {Scene | null} */
  scene() {
    const { state, theme, hover, say } = this.context;
    const { map, palette } = this;
    if (!map || !this.scale) return null;
    return {
      map, picture: this.picture, viewport: this.viewport, scale: this.scale, peak: this.peakOf(map), palette, theme,
      first: state.first, queries: this.context.labels("query"), keys: this.context.labels("key"), query: state.query,
      key: state.key, hover, colours: coloursOf(this.canvas), say,
    };
  }

  /**
   * Where an event is, from the corner of the map.
   * @param {MouseEvent} event
   */
  inBox(event) {
    const { left, top } = this.canvas.getBoundingClientRect();
    return { x: (event.clientX - left) / this.unit - this.box.x, y: (event.clientY - top) / this.unit - this.box.y };
  }

  /**
   * Which query and key are at a point; null outside of the matrix.
   * @param {{ x: number, y: number }} point
   */
  at({ x, y }) {
    const { width, height } = this.box;
    if (x < 0 || y < 0 || x >= width || y >= height) return null;
    const k = Math.floor(this.viewport.x + x / this.viewport.scale);
    const q = Math.floor(this.viewport.y + y / this.viewport.scale);
    return q < this.extent.n_q && k < this.extent.n_k ? { q, k } : null;
  }

  /**
   * A click chooses a query; one on the same place again pins its key as well, and a third lets go.
   * @param {{ q: number, k: number }} place
   */
  choose({ q, k }) {
    const { query, key } = this.context.state;
    if (query !== q) this.context.store.set({ query: q, key: null });
    else if (key !== k) this.context.store.set({ key: k });
    else this.context.store.set({ query: null, key: null });
  }
}
