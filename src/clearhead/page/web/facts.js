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
      if (["layer", "head", "choice", "language"].some((name) => changed.has(/** @type {any} */ (name)))) this.render();
    });
    this.render();
  }

  render() {
    const { info, say, chosen, layers } = this.context;
    const number = (/** @type {number | null} */ value) => (value === null ? "–" : figure(value, value >= 100 ? 0 : 2));
    const infos = chosen.map(({ layer, head }) => layers[layer].heads[head]);
    const statistics = Object.keys(info.statistics).flatMap((name) => [
      element("dt", {}, say(name)),
      element("dd", {}, number(meanOf(infos.map((one) => one.statistics[name] ?? null)))),
    ]);
    const scores = Object.entries(info.scores).sort(([, a], [, b]) => (b ?? -1) - (a ?? -1));
    const patterns = scores.flatMap(([name, value]) => {
      const bar = element("span", { class: "meter", "aria-hidden": "true" }, element("i"));
      /** @type {HTMLElement} */ (bar.firstChild).style.width = `${100 * Math.min(value ?? 0, 1)}%`;
      const own = name === info.pattern ? { class: "own" } : { class: "" };
      return [element("dt", own, say(`pattern_${name}`), bar), element("dd", own, number(value))];
    });
    this.root.setAttribute("aria-label", say("facts"));
    const alone = infos.length === 1;
    this.root.replaceChildren(
      element("h3", {}, say(alone ? "means" : "means_of_heads")), element("dl", {}, ...statistics),
      ...(alone ? [element("h3", {}, say("likeness")), element("dl", {}, ...patterns)] : []),
    );
  }
}

/**
 * The mean of numbers, if all are known.
 * @param {(number | null)[]} values
 */
function meanOf(values) {
  return values.some((value) => value === null) ? null : values.reduce((/** @type {number} */ sum, value) => sum + (value ?? 0), 0) / values.length;
}
