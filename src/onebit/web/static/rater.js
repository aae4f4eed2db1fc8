// The rater's page: shows what the outbox holds, and turns keys, clicks and swipes into answers.

import { canComeBack, Outbox, sameQuestion } from "./outbox.js";

const element = (id) => document.getElementById(id);
const [item, question, description, notice] = ["item", "question", "description", "notice"].map(element);
const [help, history, choose, search, list] = ["help", "history", "choose", "label-search", "label-list"].map(element);
const answers = { yes: element("yes"), no: element("no"), "can't tell": element("unsure") };
const keys = {
  y: "yes", 1: "yes", ArrowRight: "yes",
  n: "no", 0: "no", ArrowLeft: "no",
  " ": "can't tell", ArrowDown: "can't tell",
  Backspace: "undo", ArrowUp: "undo",
};
const IN_WORDS = { yes: "yes", no: "no", "can't tell": "can’t tell" };
const SWIPE = 80; // pixels
const ALL_AT_ONCE = 9; // labels that need no search
const MOST_LABELS = 24; // labels that are shown at once
const RETRY = 2000; // milliseconds
const TO_READ = 6000; // milliseconds for which a rater is told that an answer did not count, at least

const { token, instructions } = document.body.dataset;
let shown = null;
let said = null; // what to tell the rater once
let labels = null;
const outbox = new Outbox(token, render);

function make(tag, text, more = {}) {
  return Object.assign(document.createElement(tag), text === undefined ? {} : { textContent: text }, more);
}

function render() {
  const current = outbox.ended ? null : outbox.current;
  element("progress").textContent = outbox.progress.words;
  if (!sameQuestion(current, shown)) {
    shown = current;
    if (current) show(current);
    else item.replaceChildren();
  }
  if (!current) say();
  for (const button of Object.values(answers)) button.disabled = !current || (!current.label && button.id !== "unsure");
  choose.hidden = !current || current.label !== null;
  element("undo").disabled = !outbox.past.some(canComeBack);
  renderHistory();
  renderNotice();
}

function show({ item: { id, columns, image }, label }) {
  const parts = [];
  if (image) parts.push(make("img", undefined, { src: image, alt: `Item ${id}`, draggable: false }));
  if (columns.length === 1) {
    const [{ text }] = columns;
    parts.push(make("p", text, { className: text.length < 200 ? "text short" : "text" }));
  } else if (columns.length) {
    const table = make("dl");
    for (const { name, text } of columns) {
      const row = make("div");
      row.append(make("dt", name), make("dd", text));
      table.append(row);
    }
    parts.push(table);
  } else if (!image) {
    parts.push(make("p", `Item ${id}`, { className: "text short" }));
  }
  item.replaceChildren(...parts);
  if (label) question.replaceChildren("Is this ", make("b", label.name), "?");
  else question.replaceChildren("Which label is right?");
  description.textContent = label?.description ?? "";
  for (const part of document.querySelectorAll(".for-yes-no")) part.hidden = !label;
  for (const part of document.querySelectorAll(".for-labels")) part.hidden = Boolean(label);
  for (const part of [item, question]) restart(part);
  if (!label) offerLabels();
}

function restart(part) {
  part.classList.remove("coming");
  void part.offsetWidth;
  part.classList.add("coming");
}

// Without a question: why there is none.
function say() {
  const words = {
    asking: ["Getting the next question …", ""],
    waiting: ["Waiting for others", "The next question comes by itself as soon as it is known what to ask."],
    paused: ["Paused", "The owner of this study has paused it. It goes on here by itself."],
    done: ["All done. Thank you!", "There are no more questions in this study. You can close this page."],
  };
  let [title, more] = words[outbox.state];
  if (outbox.offline) [title, more] = ["You are offline", "The next question comes when the connection is back."];
  if (outbox.ended) [title, more] = ["This link has ended", "Ask the owner of the study for another one."];
  question.textContent = title;
  description.textContent = more;
}

function renderHistory() {
  const rows = outbox.past.slice(0, 4).map((entry) => {
    const label = entry.question.label?.name ?? "label";
    const told = (entry.question.label || entry.said === "can't tell") ? IN_WORDS[entry.said] : entry.said;
    const button = make("button", undefined, {
      type: "button",
      // An answer waits for a moment before it is sent; that is worth a mark only where there is no connection.
      className: entry.fate === "kept" && !outbox.offline ? "" : entry.fate,
      title: { kept: "not sent yet", sent: "sent", stands: "this answer stands", refused: "not counted" }[entry.fate],
      disabled: !canComeBack(entry),
      onclick: () => undo(entry),
    });
    button.setAttribute("aria-label", `${label}: ${told}. Take back`);
    button.append(make("span", label), make("b", told));
    const row = make("li");
    row.append(button);
    return row;
  });
  history.replaceChildren(...rows);
}

function renderNotice() {
  const n = outbox.unsent.length;
  let text = said ?? (outbox.refused && notCounted(outbox.refused.entry));
  if (outbox.offline) {
    text = n
      ? `No connection. ${n === 1 ? "One answer is" : `${n} answers are`} kept here and will be sent once it is back.`
      : "No connection. Trying again …";
  }
  if (outbox.ended && n) text = `${n === 1 ? "One answer" : `${n} answers`} could not be sent: ${outbox.ended}`;
  notice.hidden = !text;
  if (notice.textContent !== (text ?? "")) notice.textContent = text ?? "";
}

function notCounted({ question: { label }, said: what }) {
  const told = label ? `${IN_WORDS[what]} to “${label.name}”` : `“${what}”`;
  return `Not counted: your answer ${told}. Its question was answered by somebody else, or is another one by now. Please go on with the next.`;
}

function answer(what) {
  const button = answers[what];
  if (!outbox.current || (button && button.disabled)) return;
  said = null;
  if (Date.now() - outbox.refused?.at > TO_READ) outbox.refused = null;
  if (button) {
    button.classList.add("pressed");
    setTimeout(() => button.classList.remove("pressed"), 90);
  }
  outbox.answer(what);
}

async function undo(entry) {
  const words = await outbox.undo(entry);
  said = words && `${words[0].toUpperCase()}${words.slice(1)}.`;
  render();
}

async function offerLabels() {
  try {
    const response = labels ? null : await fetch("/api/v1/labels", { headers: { Authorization: `Bearer ${token}` } });
    labels ??= (await response.json()).labels;
  } catch {
    setTimeout(offerLabels, RETRY);
    return;
  }
  element("search-field").hidden = labels.length <= ALL_AT_ONCE;
  search.value = "";
  renderLabels();
  // On a phone this would bring up a keyboard over the labels.
  if (matchMedia("(hover: hover)").matches) search.focus();
}

function found() {
  const wanted = search.value.trim().toLowerCase();
  return labels.filter(({ name }) => name.toLowerCase().includes(wanted));
}

function renderLabels() {
  const all = found();
  list.replaceChildren(
    ...all.slice(0, MOST_LABELS).map(({ name, description: more }) => {
      const button = make("button", name, { type: "button", onclick: () => outbox.answer(name) });
      if (more) button.append(make("small", more));
      return button;
    }),
  );
  if (all.length > MOST_LABELS) list.append(make("p", `and ${all.length - MOST_LABELS} more; type a part of the label`));
  if (!all.length) list.append(make("p", "no label has this in its name"));
}

// The label that was typed, or the only one that is left.
function typedLabel() {
  const all = found();
  const typed = search.value.trim().toLowerCase();
  return all.find(({ name }) => name.toLowerCase() === typed) ?? (all.length === 1 ? all[0] : null);
}

for (const [what, button] of Object.entries(answers)) {
  button.addEventListener("click", (event) => {
    answer(what);
    // A click with a pointer must not catch the space bar afterwards.
    if (event.detail) button.blur();
  });
}
element("undo").addEventListener("click", (event) => {
  undo();
  if (event.detail) event.currentTarget.blur();
});
search.addEventListener("input", renderLabels);
search.addEventListener("keydown", (event) => {
  const label = event.key === "Enter" && labels ? typedLabel() : null;
  if (label) outbox.answer(label.name);
});

document.addEventListener("keydown", (event) => {
  const what = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!what || event.repeat || event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  // What is typed is typed; where nothing is, there is nothing to delete either.
  if (event.target === search && (search.value || (event.key.length === 1 && event.key !== " "))) return;
  if (event.key === " " && event.target instanceof HTMLButtonElement) return;
  event.preventDefault();
  if (what === "undo") undo();
  else answer(what);
});

const main = document.querySelector("main");
let start = null;
main.addEventListener("pointerdown", (event) => {
  start = event.pointerType === "touch" && !choose.contains(event.target) ? { x: event.clientX, y: event.clientY } : null;
});
main.addEventListener("pointermove", (event) => {
  if (!start) return;
  const across = event.clientX - start.x;
  if (Math.abs(event.clientY - start.y) > Math.abs(across)) return;
  item.style.transform = `translateX(${across}px)`;
  item.style.opacity = 1 - Math.min(0.6, Math.abs(across) / 300);
});
for (const end of ["pointerup", "pointercancel"]) {
  main.addEventListener(end, (event) => {
    if (!start) return;
    const across = end === "pointerup" ? event.clientX - start.x : 0;
    item.style.transform = item.style.opacity = "";
    start = null;
    if (Math.abs(across) >= SWIPE) answer(across > 0 ? "yes" : "no");
  });
}

element("help-open").addEventListener("click", () => help.showModal());
help.addEventListener("close", () => document.activeElement?.blur());
try {
  // The instructions are shown once; afterwards they are a click away.
  const seen = `onebit seen ${token.slice(0, 12)}`;
  if (instructions === "yes" && !localStorage.getItem(seen)) {
    help.showModal();
    localStorage.setItem(seen, "yes");
  }
} catch {
  // A browser that keeps nothing shows them on request.
}
render();
outbox.pump();
