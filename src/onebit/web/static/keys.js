// The keys of the rater's page: which mean what, and how a rater changes them. A choice is kept in this browser.
//
// Space, arrows and page keys never answer: who reads a long text uses them to scroll.

import { say } from "./words.js";

const PLACE = "onebit keys";
const FIRST = { yes: "y", no: "n", "can't tell": "c", "none of these": "x", undo: "u" };
const ALSO = { 1: "yes", 0: "no", Backspace: "undo" };
const TAKEN = ["j", "k", "p", "?"];
const NAMES = { yes: "yes", no: "no", "can't tell": "cant_tell", "none of these": "none_of_these", undo: "undo" };

export class Keys {
  constructor() {
    this.of = { ...FIRST, ...load() };
  }

  // What a key means: yes, no, can't tell, none of these, undo, or nothing.
  meaning(event) {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    return this.#meant(key) ?? this.#meant(latin(event)) ?? null;
  }

  #meant(key) {
    return Object.keys(FIRST).find((what) => this.of[what] === key) ?? ALSO[key];
  }

  // Let a key mean something. Says why it cannot, or null.
  change(what, key) {
    const wanted = key.toLowerCase();
    if ([...wanted].length !== 1 || wanted === " ") return say("key_unfit");
    const other = Object.keys(FIRST).find((each) => each !== what && this.of[each] === wanted) ?? ALSO[wanted];
    if (TAKEN.includes(wanted) || (other && other !== what)) return say("key_taken", { key: wanted });
    this.of[what] = wanted;
    try {
      localStorage.setItem(PLACE, JSON.stringify(this.of));
    } catch {
      // A browser that keeps nothing has the choice until the page is closed.
    }
    return null;
  }

  // Write the keys where a page shows them.
  show(buttons) {
    for (const place of document.querySelectorAll("[data-key]")) place.textContent = this.of[place.dataset.key];
    for (const [what, button] of Object.entries(buttons)) {
      button.querySelector("kbd").textContent = this.of[what];
      const also = Object.keys(ALSO).filter((key) => ALSO[key] === what);
      button.setAttribute("aria-keyshortcuts", [this.of[what], ...also].join(" "));
    }
  }
}

// The letter that stands on a key on keyboards with Latin letters, for who writes with others; else the key itself.
export function latin({ key, code }) {
  const isForeign = key.length === 1 && key.codePointAt(0) > 127;
  return (isForeign && /^Key([A-Z])$/.exec(code ?? "")?.[1].toLowerCase()) || key;
}

function load() {
  try {
    const kept = JSON.parse(localStorage.getItem(PLACE)) ?? {};
    return Object.fromEntries(Object.entries(kept).filter(([what, key]) => what in FIRST && typeof key === "string"));
  } catch {
    return {};
  }
}

// The buttons of the help that change a key: press one, then the key.
export function letChange(keys, help, changed) {
  const problem = document.getElementById("key-problem");
  let changing = null;

  function end() {
    if (changing) changing.textContent = say("change");
    changing = null;
  }

  for (const button of help.querySelectorAll("[data-change]")) {
    button.setAttribute("aria-label", say("change_key_for", { what: say(NAMES[button.dataset.change]) }));
    button.addEventListener("click", () => {
      end();
      problem.hidden = true;
      changing = button;
      button.textContent = say("press_key");
    });
  }
  help.addEventListener("keydown", (event) => {
    if (!changing || ["Shift", "Tab", "Control", "Alt", "Meta"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    const why = event.key === "Escape" ? null : keys.change(changing.dataset.change, event.key);
    problem.textContent = why ?? "";
    problem.hidden = !why;
    end();
    changed();
  });
  help.addEventListener("close", end);
}

const STEP = 60; // pixels that an arrow scrolls

// What a key scrolls by in a place: [across, down] in pixels, or null if it is no key for that.
export function scrolling({ key, shiftKey }, { clientHeight, scrollHeight }) {
  const part = clientHeight * 0.85;
  const by = {
    ArrowUp: [0, -STEP], ArrowDown: [0, STEP], ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0],
    PageUp: [0, -part], PageDown: [0, part], " ": [0, shiftKey ? -part : part],
    Home: [0, -scrollHeight], End: [0, scrollHeight],
  };
  return by[key] ?? null;
}
