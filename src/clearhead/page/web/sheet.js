// The help sheet: every key and gesture, from the table that binds them.

import { button } from "./bar.js";
import { element } from "./context.js";

/** @type {Record<string, string>} */
const SIGNS = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", " ": "␣" };
const GESTURES = [["◎", "help_wheel"], ["⇧ ◎", "help_choose"], ["Alt ◎", "help_with"]];

export class HelpSheet {
  /** @param {import("./context.js").Context} context */
  constructor(context) {
    this.context = context;
    this.root = element("dialog", { class: "sheet" });
    this.root.addEventListener("click", (event) => event.target === this.root && this.root.close());
  }

  get open() {
    return this.root.open;
  }

  close() {
    this.root.close();
  }

  /** @param {import("./keyboard.js").Binding[]} keys */
  toggle(keys) {
    const { say } = this.context;
    if (this.root.open) return this.root.close();
    const sign = (/** @type {string} */ name) => element("kbd", {}, name.replace("Shift+", "⇧ ").replace(/Arrow\w+|Escape|^ $/u, (key) => SIGNS[key]));
    const rows = keys.flatMap(({ keys: names, help }) => [element("dt", {}, ...names.map(sign)), element("dd", {}, say(help))]);
    const gestures = GESTURES.flatMap(([name, help]) => [element("dt", {}, element("kbd", {}, name)), element("dd", {}, say(help))]);
    this.root.setAttribute("aria-label", say("keys_title"));
    this.root.replaceChildren(element("h2", {}, say("keys_title")), element("dl", {}, ...gestures, ...rows), button(() => this.root.close(), say("close")));
    return this.root.showModal();
  }
}
