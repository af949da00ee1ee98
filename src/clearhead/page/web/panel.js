// The part in the middle: which head it is, what is told of it, and the views of it one at a time.

import { button, fillSwitch } from "./bar.js";
import { listed, nameOf, together } from "./choosing.js";
import { element, fillMenu, menu } from "./context.js";
import { FactsView } from "./facts.js";
import { headSentence } from "./telling.js";

/** @typedef {import("./context.js").Context} Context */
/** @typedef {import("./state.js").State} State */

export class HeadPanel {
  /**
   * @param {Context} context
   * @param {Record<State["view"], { root: HTMLElement }>} views
   * @param {(factor: number) => void} zoom
   */
  constructor(context, views, zoom) {
    this.context = context;
    this.zoom = zoom;
    this.name = element("h2");
    this.sentence = element("p", { class: "sentence" });
    this.views = element("div", { class: "switch views", role: "group" });
    this.over = menu((value) => context.store.set({ choice: this.reach(value) }));
    this.zooms = element("div", { class: "switch zooms", role: "group" });
    this.stage = element("div", { class: "stage" }, ...Object.values(views).map(({ root }) => root));
    this.body = element("div", { class: "body" }, this.stage, new FactsView(context).root);
    const titled = element("div", { class: "titled" }, this.name, this.over.whole, this.views, this.zooms);
    this.root = element("section", { class: "panel head" }, element("header", {}, titled, this.sentence), this.body);
  }

  /**
   * The heads that a word stands for: none beside the one that is open, those of its layer, or all that go with it.
   * @param {string} value
   */
  reach(value) {
    const { layers, state } = this.context;
    if (value === "one") return [];
    return value === "some" ? state.choice : together(layers, state.layer, value === "layer" ? "layer" : "all");
  }

  /** Which of those is shown. */
  get reached() {
    const { layers, state } = this.context;
    if (!state.choice.length) return "one";
    const names = state.choice.join();
    return ["layer", "all"].find((value) => together(layers, state.layer, /** @type {"layer" | "all"} */ (value)).join() === names) ?? "some";
  }

  refresh() {
    const { context } = this;
    const { state, info, say, layers, chosen } = context;
    this.name.replaceChildren(title(context));
    if (chosen.length === 1) {
      const score = info.score === null ? "" : ` ${info.score.toFixed(2)}`;
      this.name.append(element("span", { class: "badge" }, say(`pattern_${info.pattern}`), element("span", { class: "score" }, score)));
    }
    const told = chosen.length > 1 ? say("tells_choice", { list: listed(layers, chosen, say) }) : headSentence(info, say);
    this.sentence.replaceChildren(told, " ", element("span", { class: "quiet" }, say("not_why")));
    const counts = { layer: together(layers, state.layer, "layer").length, all: together(layers, state.layer, "all").length };
    fillMenu(this.over, say("over"), [
      ["one", say("over_one")],
      ...(counts.layer > 1 ? [/** @type {[string, string]} */ (["layer", say("over_layer", { count: counts.layer })])] : []),
      ...(counts.all > counts.layer ? [/** @type {[string, string]} */ (["all", say("over_all", { count: counts.all })])] : []),
      ...(this.reached === "some" ? [/** @type {[string, string]} */ (["some", say("over_some", { count: chosen.length })])] : []),
    ], this.reached);
    this.over.whole.hidden = counts.all < 2;
    fillSwitch(this.views, say("as"), context.views.map((view) => [view, say(view)]), context.view, (view) => context.store.set({ view: /** @type {State["view"]} */ (view) }));
    this.nameZooms();
    this.stage.setAttribute("data-view", context.view);
    this.root.setAttribute("data-view", context.view);
  }

  nameZooms() {
    const { context, zoom } = this;
    const zooms = /** @type {[string, string, () => void][]} */ ([["zoom_in", "+", () => zoom(1.6)], ["zoom_out", "−", () => zoom(1 / 1.6)], ["fit", "⤢", () => context.store.set({ window: null })]]);
    if (!this.zooms.children.length) this.zooms.replaceChildren(...zooms.map(([, sign, act]) => button(act, sign)));
    this.zooms.setAttribute("aria-label", context.say("zooms"));
    this.zooms.hidden = !["map", "compare"].includes(context.view);
    zooms.forEach(([name], i) => {
      const made = /** @type {HTMLButtonElement} */ (this.zooms.children[i]);
      made.title = context.say(name);
      made.setAttribute("aria-label", context.say(name));
    });
  }
}

/**
 * What is shown, as it is called: a head, or the mean of some.
 * @param {Context} context
 * @returns {string}
 */
export function title({ layers, chosen, say, source, state }) {
  const trace = source.header.traces.length > 1 ? `${source.header.traces[layers[state.layer].trace]} · ` : "";
  if (chosen.length === 1) return trace + say("head_of", { layer: layers[state.layer].name, head: state.head });
  return trace + say("mean_of", { count: chosen.length });
}

/**
 * The name of any heads, short: for what something is compared with.
 * @param {Context} context
 * @param {import("./choosing.js").HeadPlace[]} heads
 */
export function shortTitle({ layers, say, source }, heads) {
  const trace = source.header.traces.length > 1 ? `${source.header.traces[layers[heads[0].layer].trace]} · ` : "";
  if (heads.length === 1) return trace + say("head_of", { layer: layers[heads[0].layer].name, head: heads[0].head });
  const whole = together(layers, heads[0].layer, "layer");
  const all = heads.length === whole.length && heads.every((head) => whole.includes(nameOf(head)));
  return trace + (all ? say("mean_of_layer", { layer: layers[heads[0].layer].name }) : say("mean_of", { count: heads.length }));
}
