// A head in numbers, beside its map: statistics, and how much it is like each pattern.

import { element } from "./context.js";
import { figure } from "./strings.js";

/** @typedef {import("./context.js").Context} Context */

export class FactsView {
  /** @param {Context} context */
  constructor(context) {
    this.context = context;
    this.root = element("aside", { class: "facts" });
    context.store.listen((changed) => {
      if (changed.has("layer") || changed.has("head") || changed.has("language")) this.render();
    });
    this.render();
  }

  render() {
    const { info, say } = this.context;
    const number = (/** @type {number | null} */ value) => (value === null ? "–" : figure(value, value >= 100 ? 0 : 2));
    const statistics = Object.entries(info.statistics).flatMap(([name, value]) => [
      element("dt", {}, say(name)),
      element("dd", {}, number(value)),
    ]);
    const scores = Object.entries(info.scores).sort(([, a], [, b]) => (b ?? -1) - (a ?? -1));
    const patterns = scores.flatMap(([name, value]) => {
      const bar = element("span", { class: "meter", "aria-hidden": "true" }, element("i"));
      /** @type {HTMLElement} */ (bar.firstChild).style.width = `${100 * Math.min(value ?? 0, 1)}%`;
      const own = name === info.pattern ? { class: "own" } : { class: "" };
      return [element("dt", own, say(`pattern_${name}`), bar), element("dd", own, number(value))];
    });
    this.root.setAttribute("aria-label", say("facts"));
    this.root.replaceChildren(
      element("h3", {}, say("means")), element("dl", {}, ...statistics),
      element("h3", {}, say("likeness")), element("dl", {}, ...patterns),
    );
  }
}
