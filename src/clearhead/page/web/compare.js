// Two heads, two layers or two traces: each as a map, and what one has more of than the other. All three move together.

import { button } from "./bar.js";
import { goesWith, headOf, nameOf, together } from "./choosing.js";
import { element, fillMenu, menu } from "./context.js";
import { DifferenceMap } from "./difference.js";
import { moved } from "./exporting.js";
import { paintScale, scaleIn } from "./mappaint.js";
import { MapPane, coloursOf } from "./pane.js";
import { scaleOf } from "./palettes.js";
import { shortTitle } from "./panel.js";
import { figure } from "./strings.js";
import { CanvasSurface } from "./surface.js";

/** @typedef {import("./context.js").Context} Context */

const MEAN = "mean";

/** One of the two, on a scale that both share. */
class OneOfTwo extends MapPane {
  /** @param {import("./headmap.js").HeadMap} map */
  scaleFor(map) {
    const { state, map: a, otherMap: b } = this.context;
    const maps = a && b ? [a, b] : [map];
    const high = Math.max(...maps.map((one) => one.largest(!state.first) || one.high));
    return scaleOf(state.scale, Math.min(...maps.map(({ low }) => low)), high);
  }

  /** @param {import("./headmap.js").HeadMap} map */
  peakOf(map) {
    const { map: a, otherMap: b } = this.context;
    return a && b ? Math.max(a.peak, b.peak) : map.peak;
  }
}

export class CompareView {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    /** @type {DifferenceMap | null} */
    this.map = null;
    context.onMap.push(() => this.open());
    const leader = () => this.difference;
    this.a = new OneOfTwo(context, { view: "compare", map: () => context.map, leader, bare: true });
    this.b = new OneOfTwo(context, { view: "compare", map: () => context.otherMap, leader, bare: true });
    /** @type {MapPane} */
    this.difference = new MapPane(context, { view: "compare", map: () => /** @type {any} */ (this.map) });
    this.layer = menu((value) => this.choose(Number(value), this.head.select.value));
    this.head = menu((value) => this.choose(Number(this.layer.select.value), value));
    this.swap = button(() => this.exchange(), "⇄");
    this.note = element("p", { class: "pixel quiet" });
    this.legend = element("canvas", { class: "legend", "aria-hidden": "true" });
    this.drawn = ""; // what the legend was drawn for
    this.names = { a: element("h3"), b: element("h3"), d: element("h3") };
    this.root = element("div", { class: "compare" },
      element("div", { class: "with" }, this.swap, element("b", {}, "B"), this.layer.whole, this.head.whole, this.legend, this.note),
      ...(/** @type {const} */ ([["a", this.a], ["b", this.b], ["d", this.difference]])).map(([area, pane]) => element("figure", { class: `one ${area}` }, this.names[area], pane.canvas)),
    );
    context.onMap.push(() => this.drawLegend()); // after the panes, which know their scale by now
    context.store.listen((changed) => {
      if (changed.has("language")) this.name();
      if (["theme", "palette", "scale", "first", "window"].some((name) => changed.has(/** @type {any} */ (name)))) this.drawLegend();
    });
  }

  /** Both are open: what one has more of. Panes that were told before this have drawn the last difference. */
  open() {
    const { map, otherMap, view } = this.context;
    if (view !== "compare" || !map || !otherMap) return;
    this.map?.tiles?.leave();
    this.map = new DifferenceMap(map, otherMap);
    this.name();
  }

  /** The heads that B is: one, or all of its layer. */
  get other() {
    return this.context.state.other.map(headOf);
  }

  name() {
    const { context, map } = this;
    const { say, layers, state, source, chosen } = context;
    if (!map || !this.other.length) return;
    const several = source.header.traces.length > 1;
    const fit = layers.flatMap((info, i) => (goesWith(layers, { layer: i, head: 0 }, state.layer) ? [/** @type {[string, string]} */ ([String(i), several ? `${source.header.traces[info.trace]} · ${info.name}` : info.name])] : []));
    const [{ layer, head }] = this.other;
    fillMenu(this.layer, "", fit, String(layer));
    const heads = layers[layer].heads.map((_, i) => /** @type {[string, string]} */ ([String(i), say("head_number", { head: i })]));
    fillMenu(this.head, "", [...heads, ...(heads.length > 1 ? [/** @type {[string, string]} */ ([MEAN, say("over_layer", { count: heads.length })])] : [])], this.other.length > 1 ? MEAN : String(head));
    this.layer.select.setAttribute("aria-label", say("compare_layer"));
    this.head.select.setAttribute("aria-label", say("compare_head"));
    this.swap.title = say("compare_swap");
    this.swap.setAttribute("aria-label", say("compare_swap"));
    this.names.a.replaceChildren(element("b", {}, "A"), ` ${shortTitle(context, chosen)}`);
    this.names.b.replaceChildren(element("b", {}, "B"), ` ${shortTitle(context, this.other)}`);
    this.names.d.replaceChildren(element("b", {}, "A − B"), element("span", { class: "quiet" }, ` ${this.largest()}`));
    this.note.textContent = say("compare_tells");
    this.drawLegend();
  }

  /** What the colours of A and B mean; the difference has its own legend. */
  drawLegend() {
    const scene = this.context.view === "compare" ? this.a.scene() : null;
    if (!scene) return;
    const scale = scaleIn(scene);
    const { theme, state } = this.context;
    const drawn = `${scale.kind} ${scale.low} ${scale.high} ${state.palette} ${theme} ${this.difference.unit}`;
    if (drawn === this.drawn) return; // panning changes nothing
    this.drawn = drawn;
    const surface = new CanvasSurface(this.legend, 128, 26, devicePixelRatio * this.difference.unit);
    paintScale(surface, { scale, palette: state.palette, theme, colours: coloursOf(this.root) }, { x: 2, y: 2, width: 124 });
  }

  /** Where the two differ most, in words. */
  largest() {
    const { context, map } = this;
    if (!map) return "";
    const { at, value } = map.extreme(context.state.first);
    if (!value) return context.say("compare_same");
    const [queries, keys] = [context.labels("query"), context.labels("key")];
    return context.say("compare_most", { value: `${value > 0 ? "+" : ""}${figure(value, 2)}`, query: queries[at.q], key: keys[at.k] });
  }

  /**
   * @param {number} layer
   * @param {string} head
   */
  choose(layer, head) {
    const { layers, store } = this.context;
    const last = layers[layer].heads.length - 1;
    store.set({ other: head === MEAN ? together(layers, layer, "layer") : [nameOf({ layer, head: Math.min(Number(head), last) })] });
  }

  exchange() {
    const { chosen, store } = this.context;
    const other = this.other;
    store.set({ ...other[0], choice: other.length > 1 ? other.map(nameOf) : [], other: chosen.map(nameOf) });
  }

  get seen() {
    const { width, height } = this.root.getBoundingClientRect();
    const { unit } = this.difference;
    return { width: width / unit, height: height / unit };
  }

  /** What is seen, on something that is taken away. @param {import("./surface.js").CanvasSurface | import("./surface.js").SvgSurface} surface */
  copy(surface) {
    const colours = coloursOf(this.root);
    const { left, top } = this.root.getBoundingClientRect();
    const { unit } = this.difference;
    for (const [area, pane] of /** @type {const} */ ([["a", this.a], ["b", this.b], ["d", this.difference]])) {
      const box = pane.canvas.getBoundingClientRect();
      const [x, y] = [(box.left - left) / unit, (box.top - top) / unit];
      surface.text(this.names[area].textContent ?? "", x + 2, y - 10, colours.ink, { size: 12, weight: 600, limit: box.width / unit });
      const scene = pane.scene();
      if (scene) moved(surface, x, y, () => pane.paint(surface, { ...scene, hover: null }));
    }
    const scene = this.a.scene();
    if (scene) paintScale(surface, { ...scene, scale: scaleIn(scene) }, { x: 2, y: 0, width: 124 });
  }
}
