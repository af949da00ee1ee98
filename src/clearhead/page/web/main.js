// The page: its parts put together, its bar of controls, and the address kept in step with what is looked at.

import { Context, element, fillMenu, menu } from "./context.js";
import { openSource } from "./data.js";
import { exported, save } from "./exporting.js";
import { FactsView } from "./facts.js";
import { HeadView } from "./head.js";
import { bindings, bound } from "./keyboard.js";
import { LinesView } from "./lines.js";
import { ModelView } from "./model.js";
import { PALETTES } from "./palettes.js";
import { fitting, startState } from "./start.js";
import { Store, fromAddress, toAddress } from "./state.js";
import { counted, say } from "./strings.js";
import { headSentence, statusLine } from "./telling.js";
import { TextView } from "./text.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./exporting.js").Format} Format */

const STEPS = ["layer", "head", "query", "key", "view", "tab"]; // what the back button goes back over

class ClearheadPage extends HTMLElement {
  connectedCallback() {
    this.open().catch((error) => {
      const language = document.documentElement.lang === "ko" ? "ko" : "en";
      this.replaceChildren(element("p", { class: "failed", role: "alert" }, say(language, "failed", { why: String(error.message ?? error) })));
    });
  }

  async open() {
    const source = openSource(document);
    const { header } = source;
    this.replaceChildren(element("p", { class: "failed quiet" }, say(header.language === "ko" ? "ko" : "en", "loading")));
    const start = startState(header);
    const store = new Store(start);
    store.state = fitting(fromAddress(location.hash, start), header);
    this.context = new Context(source, store, await source.tokens());
    this.dress();
    this.model = new ModelView(this.context);
    this.head = new HeadView(this.context);
    this.lines = new LinesView(this.context);
    this.text = new TextView(this.context);
    this.build();
    this.context.onHover.push(() => this.tell());
    this.context.onMap.push(() => this.refresh());
    this.context.system.addEventListener("change", () => {
      this.dress();
      this.head?.repaint();
      this.head?.request();
      this.model?.render();
    });
    store.listen((changed) => this.change(changed));
    addEventListener("hashchange", () => store.set(fitting(fromAddress(location.hash, start), header)));
    addEventListener("keydown", (event) => this.press(event));
    await this.context.openHead();
    this.text.reveal();
    this.setAttribute("data-ready", "");
  }

  /** Theme and language, where the style and the browser see them. */
  dress() {
    const { context } = this;
    if (!context) return;
    document.documentElement.setAttribute("data-theme", context.theme);
    document.documentElement.lang = context.state.language;
  }

  build() {
    const { context } = this;
    if (!context || !this.model || !this.head || !this.lines || !this.text) return;
    const { store, source } = context;
    this.search = element("input", { type: "search", size: "12" });
    this.found = element("span", { class: "quiet found", role: "status" });
    this.search.addEventListener("keydown", (event) => this.find(event));
    this.scale = menu((value) => store.set({ scale: /** @type {State["scale"]} */ (value) }));
    this.palette = menu((value) => store.set({ palette: /** @type {State["palette"]} */ (value) }));
    this.first = element("input", { type: "checkbox" });
    this.first.addEventListener("change", () => store.set({ first: this.first?.checked }));
    this.firstName = element("span");
    this.export = menu((value) => this.take(value));
    this.export.whole.classList.add("save");
    this.language = this.button(() => store.set({ language: context.state.language === "ko" ? "en" : "ko" }));
    this.theme = this.button(() => store.set({ theme: context.theme === "dark" ? "light" : "dark" }), "◐");
    this.helpButton = this.button(() => this.help(), "?");
    this.size = element("span", { class: "quiet" });
    const bar = element("header", { class: "bar" },
      element("strong", { class: "brand" }, "clearhead"), element("span", { class: "title" }, element("bdi", {}, source.header.title)), this.size,
      element("span", { class: "gap" }), element("label", { class: "menu" }, this.search, this.found),
      this.scale.whole, this.palette.whole, element("label", { class: "menu" }, this.first, this.firstName),
      this.export.whole, this.language, this.theme, this.helpButton);
    this.name = element("h2");
    this.sentence = element("p", { class: "sentence" });
    this.views = element("div", { class: "switch", role: "group" });
    this.zooms = element("div", { class: "switch zooms", role: "group" });
    this.stage = element("div", { class: "stage" }, this.head.root, this.lines.root);
    const body = element("div", { class: "body" }, this.stage, new FactsView(context).root);
    const panel = element("section", { class: "panel head" }, element("header", {}, element("div", { class: "titled" }, this.name, this.views, this.zooms), this.sentence), body);
    this.tabs = element("nav", { class: "tabs" });
    this.status = element("p", { class: "status", role: "status", "aria-live": "off" });
    this.sheet = element("dialog", { class: "sheet" });
    this.sheet.addEventListener("click", (event) => event.target === this.sheet && this.sheet?.close());
    this.main = element("main", {}, this.model.root, panel, this.text.root);
    this.replaceChildren(bar, this.tabs, this.main, this.status, this.sheet);
    this.keys = bindings(context, {
      zoom: (factor) => this.head?.zoom(factor),
      search: () => this.search?.focus(),
      save: () => this.export?.select.focus(),
      help: () => this.help(),
      close: () => this.close(),
    });
    this.refresh();
  }

  /**
   * @param {() => void} act
   * @param {string} [sign]
   */
  button(act, sign = "") {
    const made = element("button", { type: "button", class: "plain" }, sign);
    made.addEventListener("click", act);
    return made;
  }

  /** @param {Set<keyof State>} changed */
  change(changed) {
    const { context } = this;
    if (!context) return;
    if (changed.has("theme") || changed.has("language")) this.dress();
    if (changed.has("layer") || changed.has("head")) {
      const state = fitting(context.state, context.source.header);
      const alike = this.shape === `${context.layer.n_q} ${context.layer.n_k}`;
      context.store.set({ query: state.query, key: state.key, window: alike ? state.window : null });
      context.openHead();
    }
    this.refresh();
    this.address(changed);
  }

  /** Put what is looked at into the address: as a step to go back to, or in the place of the last one. */
  address(/** @type {Set<keyof State>} */ changed) {
    const { context } = this;
    if (!context) return;
    const end = `#${toAddress(context.state, context.store.start)}`;
    if (end === (location.hash || "#")) return;
    const step = STEPS.some((name) => changed.has(/** @type {keyof State} */ (name)));
    clearTimeout(this.later);
    if (step) history.pushState(null, "", end);
    else this.later = setTimeout(() => history.replaceState(null, "", end), 200); // browsers count how often
  }

  /** Everything that is told outside of the views. */
  refresh() {
    const { context } = this;
    if (!context || !this.scale || !this.palette || !this.export || !this.name || !this.sentence) return;
    const { state, layer, info } = context;
    this.shape = `${layer.n_q} ${layer.n_k}`;
    fillMenu(this.scale, context.say("scale"), ["linear", "log"].map((name) => [name, context.say(name)]), state.scale);
    fillMenu(this.palette, context.say("palette"), PALETTES.map((name) => [name, context.say(name)]), state.palette);
    const kinds = ["png", "svg", "csv", "link"];
    fillMenu(this.export, "", [["", context.say("export")], ...kinds.map((name) => /** @type {[string, string]} */ ([name, context.say(`export_${name}`)]))], "");
    this.export.select.setAttribute("aria-label", context.say("export"));
    this.name.textContent = context.say("head_of", { layer: layer.name, head: state.head });
    const score = info.score === null ? "" : ` ${info.score.toFixed(2)}`;
    this.name.append(element("span", { class: "badge" }, context.say(`pattern_${info.pattern}`), element("span", { class: "score" }, score)));
    this.sentence.replaceChildren(headSentence(info, context.say), " ", element("span", { class: "quiet" }, context.say("not_why")));
    if (this.size) this.size.textContent = context.oneText ? context.say("size", { count: counted(layer.n_q) }) : context.say("size_cross", { queries: counted(layer.n_q), keys: counted(layer.n_k) });
    this.nameControls();
    this.tell();
  }

  nameControls() {
    const { context } = this;
    if (!context || !this.search || !this.first || !this.firstName || !this.language || !this.theme || !this.helpButton) return;
    const { state, say: told } = context;
    this.search.placeholder = told("search");
    this.search.setAttribute("aria-label", told("search"));
    this.first.checked = state.first;
    this.firstName.textContent = told("first");
    this.language.textContent = told("language");
    for (const [button, name] of /** @type {const} */ ([[this.theme, "theme"], [this.helpButton, "help"]])) {
      button.title = told(name);
      button.setAttribute("aria-label", told(name));
    }
    this.fillSwitch(this.views, "as", ["map", "lines"], state.view, (view) => context.store.set({ view: /** @type {State["view"]} */ (view) }));
    this.fillSwitch(this.tabs, "parts", ["model", "head", "text"], state.tab, (tab) => context.store.set({ tab: /** @type {State["tab"]} */ (tab) }));
    const zooms = /** @type {[string, string, () => void][]} */ ([["zoom_in", "+", () => this.head?.zoom(1.6)], ["zoom_out", "−", () => this.head?.zoom(1 / 1.6)], ["fit", "⤢", () => context.store.set({ window: null })]]);
    this.zooms?.replaceChildren(...zooms.map(([name, sign, act]) => {
      const button = this.button(act, sign);
      button.title = told(name);
      button.setAttribute("aria-label", told(name));
      return button;
    }));
    this.main?.setAttribute("data-tab", state.tab);
    this.stage?.setAttribute("data-view", state.view);
  }

  /**
   * @param {HTMLElement | undefined} group
   * @param {string} name
   * @param {string[]} choices
   * @param {string} chosen
   * @param {(choice: string) => void} act
   */
  fillSwitch(group, name, choices, chosen, act) {
    if (!group || !this.context) return;
    const { say: told } = this.context;
    group.setAttribute("aria-label", told(name));
    if (group.children.length !== choices.length) {
      group.replaceChildren(...choices.map((choice) => this.button(() => act(choice))));
    }
    [...group.children].forEach((button, i) => {
      button.textContent = told(choices[i]);
      button.setAttribute("aria-pressed", String(choices[i] === chosen));
    });
  }

  tell() {
    if (this.context) this.status?.replaceChildren(...statusLine(this.context));
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const writes = event.target instanceof HTMLInputElement && event.target.type === "search";
    const chooses = event.target instanceof HTMLSelectElement && event.key !== "Escape" && event.key !== "?";
    if (chooses || (writes && event.key !== "Escape") || !this.keys) return;
    const binding = bound(this.keys, event);
    if (!binding) return;
    event.preventDefault();
    binding.act(event);
  }

  /** Enter goes from one token that has the letters in it to the next. @param {KeyboardEvent} event */
  find(event) {
    const { context, search, found } = this;
    if (event.key !== "Enter" || !context || !search || !found) return;
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

  /** @param {string} value */
  async take(value) {
    const { context, head, lines } = this;
    if (!context || !head || !lines || !value) return;
    let told = "";
    if (value === "link") {
      await navigator.clipboard.writeText(location.href);
      told = context.say("copied");
    } else {
      const file = await exported(context, head, lines, /** @type {Format} */ (value));
      save(file);
      told = context.say("saved", { name: file.name });
    }
    this.refresh();
    this.status?.replaceChildren(told);
  }

  help() {
    const { context, sheet, keys } = this;
    if (!context || !sheet || !keys) return;
    if (sheet.open) return sheet.close();
    const signs = (/** @type {string[]} */ names) => names.map((name) => element("kbd", {}, name.replace("Arrow", "").replace("Shift+", "⇧ ").replace("Up", "↑").replace("Down", "↓").replace("Left", "←").replace("Right", "→").replace("Escape", "Esc")));
    const rows = keys.flatMap(({ keys: names, help }) => [element("dt", {}, ...signs(names)), element("dd", {}, context.say(help))]);
    const wheel = [element("dt", {}, element("kbd", {}, "◎")), element("dd", {}, context.say("help_wheel"))];
    const close = this.button(() => sheet.close(), context.say("close"));
    sheet.replaceChildren(element("h2", {}, context.say("keys_title")), element("dl", {}, ...wheel, ...rows), close);
    return sheet.showModal();
  }

  close() {
    if (this.sheet?.open) this.sheet.close();
    else if (document.activeElement === this.search) this.search?.blur();
    else this.context?.store.set({ query: null, key: null });
  }
}

customElements.define("clearhead-page", ClearheadPage);
