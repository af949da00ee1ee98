// The bar over everything: what the page is of, finding a token, how weights are coloured, saving, language and theme.

import { element, fillMenu, menu } from "./context.js";
import { PALETTES } from "./palettes.js";
import { counted } from "./strings.js";

/** @typedef {import("./context.js").Context} Context */
/** @typedef {import("./state.js").State} State */

/**
 * @param {() => void} act
 * @param {string} [sign]
 */
export function button(act, sign = "") {
  const made = element("button", { type: "button", class: "plain" }, sign);
  made.addEventListener("click", act);
  return made;
}

/**
 * Buttons of which one is pressed.
 * @param {HTMLElement} group
 * @param {string} name
 * @param {[value: string, text: string][]} choices
 * @param {string} chosen
 * @param {(choice: string) => void} act
 */
export function fillSwitch(group, name, choices, chosen, act) {
  group.setAttribute("aria-label", name);
  const values = choices.map(([value]) => value).join();
  if (group.getAttribute("data-choices") !== values) {
    group.setAttribute("data-choices", values);
    group.replaceChildren(...choices.map(([value]) => button(() => act(value))));
  }
  [...group.children].forEach((made, i) => {
    made.textContent = choices[i][1];
    made.setAttribute("aria-pressed", String(choices[i][0] === chosen));
  });
}

export class Bar {
  /**
   * @param {Context} context
   * @param {{ save: (format: string) => void, help: () => void }} does
   */
  constructor(context, does) {
    this.context = context;
    const { store, source } = context;
    this.search = element("input", { type: "search", size: "12" });
    this.found = element("span", { class: "quiet found", role: "status" });
    this.search.addEventListener("keydown", (event) => this.find(event));
    this.scale = menu((value) => store.set({ scale: /** @type {State["scale"]} */ (value) }));
    this.palette = menu((value) => store.set({ palette: /** @type {State["palette"]} */ (value) }));
    this.first = element("input", { type: "checkbox" });
    this.first.addEventListener("change", () => store.set({ first: this.first.checked }));
    this.firstName = element("span");
    this.export = menu((value) => value && does.save(value));
    this.export.whole.classList.add("save");
    this.language = button(() => store.set({ language: context.state.language === "ko" ? "en" : "ko" }));
    this.theme = button(() => store.set({ theme: context.theme === "dark" ? "light" : "dark" }), "◐");
    this.help = button(does.help, "?");
    this.size = element("span", { class: "quiet" });
    this.root = element("header", { class: "bar" },
      element("h1", { class: "brand" }, "clearhead"), element("span", { class: "title" }, element("bdi", {}, source.header.title)), this.size,
      element("span", { class: "gap" }), element("label", { class: "menu" }, this.search, this.found),
      this.scale.whole, this.palette.whole, element("label", { class: "menu" }, this.first, this.firstName),
      this.export.whole, this.language, this.theme, this.help);
    this.refresh();
  }

  refresh() {
    const { state, layer, oneText, say } = this.context;
    fillMenu(this.scale, say("scale"), ["linear", "log"].map((name) => [name, say(name)]), state.scale);
    fillMenu(this.palette, say("palette"), PALETTES.map((name) => [name, say(name)]), state.palette);
    const kinds = ["png", "svg", "csv", "link"];
    fillMenu(this.export, "", [["", say("export")], ...kinds.map((name) => /** @type {[string, string]} */ ([name, say(`export_${name}`)]))], "");
    this.export.select.setAttribute("aria-label", say("export"));
    this.size.textContent = oneText ? say("size", { count: counted(layer.n_q) }) : say("size_cross", { queries: counted(layer.n_q), keys: counted(layer.n_k) });
    this.search.placeholder = say("search");
    this.search.setAttribute("aria-label", say("search"));
    this.first.checked = state.first;
    this.firstName.textContent = say("first");
    this.language.textContent = say("language");
    this.language.lang = state.language === "ko" ? "en" : "ko";
    for (const [made, name] of /** @type {const} */ ([[this.theme, "theme"], [this.help, "help"]])) {
      made.title = say(name);
      made.setAttribute("aria-label", say(name));
    }
  }

  /** Enter goes from one token that has the letters in it to the next. @param {KeyboardEvent} event */
  find(event) {
    const { context, search, found } = this;
    if (event.key !== "Enter") return;
    const wanted = search.value.trim().toLowerCase();
    const labels = context.labels("query");
    const all = wanted ? labels.flatMap((label, i) => (label.toLowerCase().includes(wanted) ? [i] : [])) : [];
    found.textContent = wanted && !all.length ? context.say("search_none") : "";
    if (!all.length) return;
    const before = context.state.query ?? -1;
    const at = event.shiftKey ? (all.findLast((i) => i < before) ?? all[all.length - 1]) : (all.find((i) => i > before) ?? all[0]);
    found.textContent = context.say("search_count", { at: counted(all.indexOf(at) + 1), count: counted(all.length) });
    context.store.set({ query: at });
  }
}
