// The rater's page: shows what the outbox holds, and turns keys, clicks and swipes into answers.

import { Cards, groupOf, single } from "./group.js";
import { make, partsOf } from "./item.js";
import { Keys, letChange, scrolling } from "./keys.js";
import { Labels } from "./labels.js";
import { canComeBack, Outbox, sameQuestion } from "./outbox.js";

const element = (id) => document.getElementById(id);
const [item, question, description, notice] = ["item", "question", "description", "notice"].map(element);
const [help, history, choose, outputs] = ["help", "history", "choose", "outputs"].map(element);
const answers = { yes: element("yes"), no: element("no"), "can't tell": element("unsure") };
const IN_WORDS = { yes: "yes", no: "no", "can't tell": "can’t tell" };
const SWIPE = 80; // pixels
const TO_READ = 6000; // milliseconds for which a rater is told that an answer did not count, at least
const MOST_SHOWN = 4; // answers that the history shows

const { token, instructions } = document.body.dataset;
let shown = null;
let focused = null; // the number of the question that keys answer, where several are shown together
let said = null; // what to tell the rater once
const keys = new Keys();
const labels = new Labels(token, (name) => outbox.answer(name));
const cards = new Cards(outputs, judge, (asked) => look(asked.question));
const outbox = new Outbox(token, render);

// The questions that are shown: all about one item where outputs are judged together, else one.
function group() {
  return outbox.together ? groupOf(outbox.questions, outbox.past) : [];
}

// The question that keys and the large buttons answer.
function asked() {
  if (outbox.ended) return null;
  return outbox.questions.find((each) => each.question === focused) ?? outbox.current;
}

function render() {
  const current = asked();
  element("own").textContent = counted(outbox.own);
  element("progress").textContent = outbox.progress.words;
  if (!current) {
    shown = null;
    item.replaceChildren();
    outputs.hidden = true;
    say();
  } else if (!sameQuestion(current, shown)) {
    show(current);
  }
  if (current && outbox.together) showGroup(current);
  for (const button of Object.values(answers)) button.disabled = !current || (!current.label && button.id !== "unsure");
  choose.hidden = !current || current.label !== null;
  element("undo").disabled = !outbox.past.some(canComeBack);
  renderHistory();
  renderNotice();
}

function showGroup(current) {
  const all = group();
  const place = all.findIndex(([{ question: number }]) => number === current.question) + 1;
  // Only what has changed is read out.
  if (question.textContent !== `Is output ${place} right?`) {
    question.replaceChildren("Is ", make("b", `output ${place}`), " right?");
  }
  cards.show(all, current.question);
}

function counted(n) {
  if (!n) return "";
  return n === 1 ? "1 answer by you" : `${n.toLocaleString("en")} answers by you`;
}

function show(current) {
  const isSameItem = outbox.together && shown?.item.id === current.item.id;
  shown = current;
  const { label } = current;
  const isText = Boolean(label) && (label.is_text || outbox.together);
  if (!isSameItem) {
    item.replaceChildren(...partsOf(current.item));
    item.scrollTop = item.scrollLeft = outputs.scrollTop = 0;
  }
  outputs.hidden = !isText;
  document.body.classList.toggle("with-outputs", isText);
  if (isText && !outbox.together) outputs.replaceChildren(single(label));
  if (!label) question.replaceChildren("Which label is right?");
  else if (isText) question.replaceChildren("Is this output right?");
  else question.replaceChildren("Is the label ", make("b", label.name, { dir: "auto" }), " right?");
  description.textContent = label?.description ?? "";
  const parts = { "for-yes-no": label, "for-labels": !label, "for-group": outbox.together };
  for (const [name, isFor] of Object.entries(parts)) {
    for (const part of document.querySelectorAll(`.${name}`)) part.hidden = !isFor;
  }
  // The part around the question moves, not the question in it: moved inside, it would overflow, and what scrolls is a
  // stop of the tab key, for as long as the movement lasts.
  for (const part of isSameItem ? [] : [item, question.parentElement]) restart(part);
  if (!label) labels.offer();
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
  const rows = outbox.past.slice(0, MOST_SHOWN).map((entry) => {
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
    button.setAttribute("aria-label", `${label.slice(0, 80)}: ${told}. Take back`);
    button.append(make("span", label.slice(0, 80), { dir: "auto" }), make("b", told));
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
  const told = label ? `${IN_WORDS[what]} to “${label.name.slice(0, 80)}”` : `“${what}”`;
  return `Not counted: your answer ${told}. Its question was answered by somebody else, or is another one by now. Please go on with the next.`;
}

function answer(what) {
  const button = answers[what];
  const current = asked();
  if (!current || (button && button.disabled)) return;
  said = null;
  if (Date.now() - outbox.refused?.at > TO_READ) outbox.refused = null;
  if (button) {
    button.classList.add("pressed");
    setTimeout(() => button.classList.remove("pressed"), 90);
  }
  focused = nextOpen(current);
  outbox.answer(what, current);
  if (outbox.together) cards.reveal(asked()?.question);
}

// The question that is looked at after this one: the next of its group that has no answer, from the top again at the end.
function nextOpen(current) {
  const open = group().filter(([each, entry]) => !entry && each !== current).map(([each]) => each.question);
  return open.find((number) => number > current.question) ?? open[0] ?? null;
}

// What was pressed on a card: an answer, another answer, or the same again, which takes it back.
async function judge(on, what) {
  const entry = group().find(([{ question: number }]) => number === on.question)?.[1];
  if (entry) await undo(entry);
  focused = on.question;
  if (entry?.said !== what && outbox.questions.some((each) => each.question === on.question)) answer(what);
}

function look(number) {
  if (focused === number || !outbox.questions.some((each) => each.question === number)) return;
  focused = number;
  render();
}

function step(by) {
  const open = group().filter(([, entry]) => !entry).map(([each]) => each.question);
  const place = open.indexOf(asked()?.question) + by;
  if (open[place] === undefined) return;
  look(open[place]);
  cards.reveal(open[place]);
}

async function undo(entry) {
  const words = await outbox.undo(entry);
  said = words && `${words[0].toUpperCase()}${words.slice(1)}.`;
  focused = null;
  render();
}

for (const [what, button] of Object.entries(answers)) button.addEventListener("click", () => answer(what));
element("undo").addEventListener("click", () => undo());

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  // What is typed is typed; where nothing is, there is nothing to delete either.
  if (event.target === labels.search && (labels.search.value || event.key.length === 1)) return;
  const act = meaning(event) ?? scroll(event);
  if (!act) return;
  event.preventDefault();
  if (!event.repeat || act.repeats) act.now();
});

function meaning(event) {
  if (event.key === "?") return { now: () => help.showModal() };
  const label = choose.hidden ? null : labels.numbered(event.key);
  if (label) return { now: () => outbox.answer(label.name) };
  const move = outbox.together && { j: 1, k: -1 }[event.key];
  if (move) return { now: () => step(move), repeats: true };
  const what = keys.meaning(event);
  if (!what) return null;
  return { now: () => (what === "undo" ? undo() : answer(what)) };
}

// A key that scrolls does so in the item, or in what is looked at, wherever the focus is.
function scroll(event) {
  if (event.key === " " && event.target instanceof HTMLButtonElement) return null;
  if (event.target.closest?.("pre, table")) return null;
  if (event.target === labels.search && !["ArrowUp", "ArrowDown", "PageUp", "PageDown"].includes(event.key)) return null;
  const place = outputs.contains(event.target) ? outputs : item;
  const by = scrolling(event, place);
  return by && { now: () => place.scrollBy({ left: by[0], top: by[1] }), repeats: true };
}

const main = document.querySelector("main");
let start = null;
main.addEventListener("pointerdown", (event) => {
  const isOurs = !choose.contains(event.target) && !event.target.closest("pre, table, button, .judged");
  start = event.pointerType === "touch" && isOurs ? { x: event.clientX, y: event.clientY } : null;
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

const showKeys = () => keys.show({ ...answers, undo: element("undo") });
letChange(keys, help, showKeys);
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
showKeys();
render();
outbox.pump();
