// The strongest examples of a pattern in a head, in their text: the query is outlined, its strongest keys are shaded.

import { bestPattern } from "./census_data.js";
import { short } from "./census_grid.js";
import { tell } from "./census_strings.js";
import { element } from "./context.js";
import { colourAt, css, inkOn } from "./palettes.js";
import { say } from "./strings.js";
import { shortened } from "./tokens.js";

/** @typedef {import("./census.js").Shared} Shared */
/** @typedef {import("./census_data.js").Example} Example */

const LEAST = 0.01; // weights below it are not worth a shade
const MOST = 5; // keys that are listed

export class Examples {
  /** @param {Shared} shared */
  constructor(shared) {
    this.shared = shared;
    this.title = element("h2", {});
    this.select = /** @type {HTMLSelectElement} */ (element("select", {}));
    this.select.addEventListener("change", () => this.shared.choose({ pattern: this.select.value }));
    this.label = element("label", { class: "menu" });
    this.list = element("div", { class: "census-examples" });
  }

  draw() {
    const { state, header, language, model, at } = this.shared;
    const pattern = state.pattern || bestPattern(model, header.patterns, at);
    this.title.textContent = tell(language, "examples");
    this.label.replaceChildren(element("span", { class: "menu-name" }, tell(language, "example_of")), this.select);
    this.select.replaceChildren(
      ...header.patterns.map((name) => {
        const mean = model.mean[name][at];
        return element("option", { value: name, selected: name === pattern }, `${say(language, `pattern_${name}`)}  ${mean === null ? "–" : short(mean, 2)}`);
      }),
    );
    const found = model.examples[`${at} ${pattern}`] ?? [];
    this.list.replaceChildren(...found.map((example) => this.card(example)));
    if (!found.length) this.list.append(element("p", { class: "quiet" }, tell(language, "no_examples")));
  }

  /** @param {Example} example */
  card([score, file, document, offset, query, first, token, pieces, keys, keyTokens, weights]) {
    const { language } = this.shared;
    const place = [tell(language, "example_place", { file, document })];
    place.push(offset >= 0 ? tell(language, "example_offset", { offset }) : tell(language, "example_token", { query }));
    const head = element("header", {}, element("span", { class: "census-file" }, place.join(" · ")), element("span", { class: "quiet" }, tell(language, "example_score", { score: short(score, 3) })));
    const text = element("p", { class: "census-text" });
    let word = element("span", { class: "word" });
    let most = 0; // of the tokens that share a word's characters, the one that is looked at most shades it
    pieces.forEach(([before, own], i) => {
      if (own) {
        word = element("span", { class: "word" }, own);
        most = 0;
        text.append(before, word);
      }
      if (first + i === query) word.classList.add("chosen");
      const weight = weights[keys.indexOf(first + i)] ?? 0;
      if (weight < LEAST || weight <= most) return;
      most = weight;
      this.shade(word, weight);
    });
    if (first > 0) text.prepend("… ");
    const list = element("p", { class: "census-keys" }, element("span", { class: "quiet" }, tell(language, "example_keys", { token: shortened(token) })));
    keys.slice(0, MOST).forEach((key, i) => {
      if (i && weights[i] < LEAST) return;
      const chip = element("span", { class: "census-key" }, shortened(keyTokens[i]), element("b", {}, short(weights[i], 2)));
      const away = key - query;
      if (away) chip.append(element("span", { class: "quiet" }, away > 0 ? `+${away}` : `−${-away}`));
      list.append(chip);
    });
    return element("article", { class: "census-example" }, head, text, list);
  }

  /**
   * @param {HTMLElement} word
   * @param {number} weight
   */
  shade(word, weight) {
    const colour = colourAt("plum", this.shared.theme, 0.1 + 0.75 * Math.sqrt(weight));
    word.style.background = css(colour);
    word.style.color = inkOn(colour);
    word.title = short(weight, 3);
  }
}
