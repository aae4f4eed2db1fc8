// The outputs that are judged: one long text, or all of an item's outputs below each other, each with its own answers.

import { make, textOf } from "./item.js";
import { say } from "./words.js";

const ANSWERS = { no: say("no"), "can't tell": say("cant_tell"), yes: say("yes") };

// The questions about the item of the first, open or answered here before, in the order asked: [question, entry] each.
export function groupOf(questions, past) {
  const [first] = questions;
  if (!first) return [];
  const ours = ({ item, label }) => item.id === first.item.id && label;
  const open = questions.filter(ours).map((question) => [question, null]);
  const numbers = new Set(open.map(([{ question }]) => question));
  const answered = past
    .filter(({ question, fate }) => ours(question) && fate !== "refused" && !numbers.has(question.question))
    .map((entry) => [entry.question, entry]);
  return [...open, ...answered].sort(([one], [other]) => one.question - other.question);
}

// One output on its own: the answers below the question are for it.
export function single(label) {
  const card = make("article", undefined, { className: "output" });
  card.append(textOf({ text: label.name, html: label.html }));
  return card;
}

// The cards of a group. `act` is told what was pressed, (question, answer); `focus` which card is looked at.
export class Cards {
  constructor(place, act, focus) {
    Object.assign(this, { place, act, focus, group: [] });
  }

  show(group, focused) {
    const numbers = (each) => each.map(([{ question }]) => question).join();
    if (numbers(group) !== numbers(this.group) || !this.place.querySelector(".judged")) {
      const named = (n) => say("output_of", { n: n + 1, all: group.length });
      this.place.replaceChildren(...group.map(([question], n) => this.#card(question, named(n))));
    }
    this.group = group;
    group.forEach(([question, entry], n) => {
      const card = this.place.children[n];
      card.classList.toggle("focused", question.question === focused);
      card.classList.toggle("answered", Boolean(entry));
      for (const button of card.querySelectorAll("[data-answer]")) {
        button.setAttribute("aria-pressed", String(entry?.said === button.dataset.answer));
      }
    });
  }

  // Bring the card of a question into sight.
  reveal(number) {
    const n = this.group.findIndex(([{ question }]) => question === number);
    this.place.children[n]?.scrollIntoView({ block: "nearest" });
  }

  #card(question, name) {
    const card = make("article", undefined, { className: "output judged" });
    card.setAttribute("aria-label", name);
    card.append(make("p", name, { className: "soft" }), textOf({ text: question.label.name, html: question.label.html }));
    const row = make("div", undefined, { className: "own-buttons" });
    row.setAttribute("role", "group");
    for (const [what, words] of Object.entries(ANSWERS)) {
      const button = make("button", words, { type: "button", onclick: () => this.act(question, what) });
      button.dataset.answer = what;
      row.append(button);
    }
    card.append(row);
    for (const kind of ["focusin", "pointerdown"]) card.addEventListener(kind, () => this.focus(question));
    return card;
  }
}
