// The page: its parts put together, and the address kept in step with what is looked at.

import { Bar, fillSwitch } from "./bar.js";
import { CompareView } from "./compare.js";
import { Context, element } from "./context.js";
import { openSource } from "./data.js";
import { exported, save } from "./exporting.js";
import { HeadView } from "./head.js";
import { ImageView } from "./image.js";
import { bindings, bound } from "./keyboard.js";
import { LinesView } from "./lines.js";
import { ModelView } from "./model.js";
import { HeadPanel } from "./panel.js";
import { HelpSheet } from "./sheet.js";
import { fitting, startState } from "./start.js";
import { Store, fromAddress, toAddress } from "./state.js";
import { StepView } from "./step.js";
import { say } from "./strings.js";
import { statusLine } from "./telling.js";
import { TextView } from "./text.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./exporting.js").Format} Format */

const STEPS = ["layer", "head", "choice", "other", "query", "key", "view", "tab"]; // what the back button goes back over
const MOVED = ["window", "query", "key", "limit"]; // what changes in every frame, and is told in the status line alone
const OPENED = ["layer", "head", "choice", "other", "view"]; // what other data are opened for

const RUN = 400; // milliseconds within which the same change again is the same step

class ClearheadPage extends HTMLElement {
  connectedCallback() {
    this.open().catch((error) => {
      const language = document.documentElement.lang === "ko" ? "ko" : "en";
      this.replaceChildren(element("p", { class: "failed", role: "alert" }, say(language, "failed", { why: String(error.message ?? error) })));
    });
  }

  async open() {
    const source = await openSource(document);
    const { header } = source;
    this.replaceChildren(element("p", { class: "failed quiet" }, say(header.language === "ko" ? "ko" : "en", "loading")));
    const start = startState(header);
    const store = new Store(start);
    store.state = fitting(fromAddress(location.hash, start), header);
    this.context = new Context(source, store, await source.tokens());
    this.dress();
    this.build();
    this.context.onHover.push(() => this.tell());
    this.context.onMap.push(() => this.refresh());
    this.context.system.addEventListener("change", () => {
      this.dress();
      store.tell(new Set(/** @type {const} */ (["theme"])));
    });
    store.listen((changed) => this.change(changed));
    addEventListener("hashchange", () => store.set(fitting(fromAddress(location.hash, start), header)));
    addEventListener("keydown", (event) => this.press(event));
    await this.openHead();
    this.text?.reveal();
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
    if (!context) return;
    this.model = new ModelView(context);
    this.head = new HeadView(context);
    this.lines = new LinesView(context);
    this.text = new TextView(context);
    this.step = new StepView(context);
    this.image = new ImageView(context);
    this.compare = new CompareView(context);
    this.views = { map: this.head, lines: this.lines, step: this.step, image: this.image, compare: this.compare };
    this.panel = new HeadPanel(context, this.views, (factor) => this.zoom(factor));
    this.bar = new Bar(context, { save: (format) => this.take(format), help: () => this.help() });
    this.sheet = new HelpSheet(context);
    this.tabs = element("nav", { class: "tabs" });
    this.status = element("p", { class: "status", role: "status", "aria-live": "off" });
    this.main = element("main", {}, this.model.root, this.panel.root, this.text.root);
    this.replaceChildren(this.bar.root, this.tabs, this.main, this.status, this.sheet.root);
    this.keys = bindings(context, {
      zoom: (factor) => this.zoom(factor),
      step: (by) => this.step?.move(by),
      play: () => this.step?.toggle(),
      search: () => this.bar?.search.focus(),
      save: () => this.bar?.export.select.focus(),
      help: () => this.help(),
      close: () => this.close(),
    });
    this.refresh();
  }

  /** The map that keys zoom. */
  get pane() {
    return /** @type {import("./pane.js").MapPane} */ (this.context?.view === "compare" ? this.compare?.difference : this.head);
  }

  /** @param {number} factor */
  zoom(factor) {
    this.pane.zoom(factor);
  }

  /** Open what is chosen. Until it is there, the last map is seen through a veil, and nothing is told of it. */
  async openHead() {
    this.setAttribute("data-opening", "");
    await this.context?.openHead();
    if (this.context?.isOpen) this.removeAttribute("data-opening");
    this.tell();
  }

  /** @param {Set<keyof State>} changed */
  change(changed) {
    const { context } = this;
    if (!context) return;
    if (changed.has("theme") || changed.has("language")) this.dress();
    if (OPENED.some((name) => changed.has(/** @type {keyof State} */ (name)))) {
      const { query, key, choice, other, window } = fitting(context.state, context.source.header);
      const alike = this.shape === `${context.layer.n_q} ${context.layer.n_k}`;
      context.store.set({ query, key, choice, other, window: alike || changed.has("window") ? window : null });
      this.opening = this.openHead();
    }
    if ([...changed].some((name) => !MOVED.includes(name))) this.refresh();
    else if (!(changed.size === 1 && changed.has("window"))) this.tell();
    this.address(changed);
  }

  /** Put what is looked at into the address: as a step to go back to, or in the place of the last one. */
  address(/** @type {Set<keyof State>} */ changed) {
    const { context } = this;
    if (!context || location.protocol === "about:") return; // a frame in a notebook has no address
    const end = `#${toAddress(context.state, context.store.start)}`;
    clearTimeout(this.later); // what was to be written is not what is looked at any more
    if (end === (location.hash || "#")) return;
    const steps = STEPS.filter((name) => changed.has(/** @type {keyof State} */ (name))).join();
    const run = steps === this.stepped?.steps && performance.now() - this.stepped.at < RUN; // a key that is held down
    if (steps) this.stepped = { steps, at: performance.now() };
    if (steps && !run) history.pushState(null, "", end);
    else this.later = setTimeout(() => history.replaceState(null, "", end), 200); // browsers count how often
  }

  /** Everything that is told outside of the views. */
  refresh() {
    const { context } = this;
    if (!context || !this.tabs) return;
    const { layer, say: told, state } = context;
    this.shape = `${layer.n_q} ${layer.n_k}`;
    this.bar?.refresh();
    this.panel?.refresh();
    fillSwitch(this.tabs, told("parts"), ["model", "head", "text"].map((name) => [name, told(name)]), state.tab, (tab) => context.store.set({ tab: /** @type {State["tab"]} */ (tab) }));
    this.main?.setAttribute("data-tab", state.tab);
    this.tell();
  }

  tell() {
    if (this.context) this.status?.replaceChildren(...statusLine(this.context));
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const writes = event.target instanceof HTMLInputElement && event.target.type === "search";
    const chooses = event.target instanceof HTMLSelectElement && event.key !== "Escape" && event.key !== "?";
    const slides = event.target instanceof HTMLInputElement && event.target.type === "range" && event.key.startsWith("Arrow");
    if (chooses || slides || (writes && event.key !== "Escape") || !this.keys || event.defaultPrevented) return;
    const binding = bound(this.keys, event);
    const presses = event.key === " " && event.target instanceof HTMLElement && event.target.closest("button, input, a");
    if (!binding || presses) return;
    event.preventDefault();
    binding.act(event);
  }

  /** @param {string} value */
  async take(value) {
    const { context, views } = this;
    if (!context || !views) return;
    let told = "";
    if (value === "link") {
      await navigator.clipboard.writeText(location.href);
      told = context.say("copied");
    } else {
      await this.opening; // a file has the numbers of what it is named after
      const file = await exported(context, views[context.view], this.pane, /** @type {Format} */ (value));
      save(file);
      told = context.say("saved", { name: file.name });
    }
    this.refresh();
    this.status?.replaceChildren(told);
  }

  help() {
    if (this.keys) this.sheet?.toggle(this.keys);
  }

  close() {
    if (this.sheet?.open) this.sheet.close();
    else if (document.activeElement === this.bar?.search) this.bar?.search.blur();
    else this.context?.store.set({ query: null, key: null });
  }
}

customElements.define("clearhead-page", ClearheadPage);
