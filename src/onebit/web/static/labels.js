// Where the label itself is asked for: all labels, and a search among them.

import { make } from "./item.js";
import { count, say } from "./words.js";

const ALL_AT_ONCE = 9; // labels that need no search, and have a digit each
const MOST_LABELS = 24; // labels that are shown at once
const RETRY = 2000; // milliseconds

export class Labels {
  constructor(token, choose) {
    this.token = token;
    this.choose = choose;
    this.all = null;
    [this.search, this.list, this.field] = ["label-search", "label-list", "search-field"].map((id) => document.getElementById(id));
    this.search.addEventListener("input", () => this.#render());
    this.search.addEventListener("keydown", (event) => {
      const label = event.key === "Enter" && this.all ? this.#typed() : null;
      if (label) this.choose(label.name);
    });
  }

  // Whether a digit and a click are enough.
  get areFew() {
    return this.all !== null && this.all.length <= ALL_AT_ONCE;
  }

  async offer() {
    try {
      const asked = { headers: { Authorization: `Bearer ${this.token}` } };
      this.all ??= (await (await fetch("/api/v1/labels", asked)).json()).labels;
    } catch {
      setTimeout(() => this.offer(), RETRY);
      return;
    }
    this.field.hidden = this.areFew;
    this.search.value = "";
    this.#render();
    // On a phone this would bring up a keyboard over the labels.
    if (matchMedia("(hover: hover)").matches && !this.areFew) this.search.focus();
  }

  // The label that a digit stands for, where there are few.
  numbered(key) {
    return this.areFew && /^[1-9]$/.test(key) ? (this.all[Number(key) - 1] ?? null) : null;
  }

  #found() {
    const wanted = this.search.value.trim().toLowerCase();
    return this.all.filter(({ name }) => name.toLowerCase().includes(wanted));
  }

  #render() {
    if (!this.all) return;
    const found = this.#found();
    const buttons = found.slice(0, MOST_LABELS).map(({ name, description }, place) => {
      const button = make("button", undefined, { type: "button", dir: "auto", onclick: () => this.choose(name) });
      button.append(make("span", name));
      if (this.areFew) button.append(make("kbd", String(place + 1)));
      if (description) button.append(make("small", description));
      return button;
    });
    this.list.replaceChildren(...buttons);
    if (found.length > MOST_LABELS) {
      this.list.append(make("p", count("more_labels", found.length - MOST_LABELS)));
    }
    if (!found.length) this.list.append(make("p", say("no_such_label")));
  }

  // The label that was typed, or the only one that is left.
  #typed() {
    const found = this.#found();
    const typed = this.search.value.trim().toLowerCase();
    return found.find(({ name }) => name.toLowerCase() === typed) ?? (found.length === 1 ? found[0] : null);
  }
}
