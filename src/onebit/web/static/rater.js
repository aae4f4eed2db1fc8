// The rater's page: shows what the outbox holds, and turns keys, clicks and swipes into answers.

import { Cards, groupOf, single } from "./group.js";
import { make, partsOf } from "./item.js";
import { Keys, latin, letChange, scrolling } from "./keys.js";
import { Labels } from "./labels.js";
import { canComeBack, Outbox, sameQuestion } from "./outbox.js";
import { around, count, isRightToLeft, letChoose, say } from "./words.js";

const element = (id) => document.getElementById(id);
const [item, question, description, notice] = ["item", "question", "description", "notice"].map(element);
const [help, history, choose, outputs] = ["help", "history", "choose", "outputs"].map(element);
const answers = {
  yes: element("yes"), no: element("no"), "can't tell": element("unsure"), "none of these": element("none"),
};
const IN_WORDS = {
  yes: say("said_yes"), no: say("said_no"), "can't tell": say("said_cant_tell"), "none of these": say("said_none"),
};
const SWIPE = 80; // pixels
const TO_READ = 6000; // milliseconds for which a rater is told that an answer did not count, at least
const MOST_SHOWN = 4; // answers that the history shows

const { token, instructions, none } = document.body.dataset;
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
  element("own").textContent = outbox.own ? count("own", outbox.own) : "";
  element("progress").textContent = outbox.progress.words;
  if (!current) {
    shown = null;
    item.replaceChildren();
    outputs.hidden = true;
    sayWhy();
  } else if (!sameQuestion(current, shown)) {
    show(current);
  }
  if (current && outbox.together) showGroup(current);
  for (const button of Object.values(answers)) button.disabled = !current || (!current.label && button.id !== "unsure");
  if (none !== "yes") answers["none of these"].disabled = true;
  choose.hidden = !current || current.label !== null;
  element("undo").disabled = !outbox.past.some(canComeBack);
  renderHistory();
  renderNotice();
}

function showGroup(current) {
  const all = group();
  const place = all.findIndex(([{ question: number }]) => number === current.question) + 1;
  // Only what has changed is read out.
  const name = say("numbered_output", { n: place });
  if (question.textContent !== say("is_numbered_right", { output: name })) {
    question.replaceChildren(...around("is_numbered_right", "output", make("b", name)));
  }
  cards.show(all, current.question);
}

function show(current) {
  const isSameItem = outbox.together && shown?.item.id === current.item.id;
  shown = current;
  const { label } = current;
  const isText = Boolean(label) && (label.is_text || outbox.together);
  const isPlayed = ["audio", "video"].includes(current.item.media?.form);
  if (!isSameItem) {
    item.replaceChildren(...partsOf(current.item));
    item.scrollTop = item.scrollLeft = outputs.scrollTop = 0;
  }
  outputs.hidden = !isText;
  document.body.classList.toggle("with-outputs", isText);
  if (isText && !outbox.together) outputs.replaceChildren(single(label));
  if (!label) question.replaceChildren(say("which_label"));
  else if (isText) question.replaceChildren(say("is_output_right"));
  else question.replaceChildren(...around("is_label_right", "label", make("b", label.name, { dir: "auto" })));
  description.textContent = label?.description ?? "";
  const parts = {
    "for-yes-no": label, "for-labels": !label, "for-group": outbox.together, "for-media": isPlayed,
    "for-none": label && none === "yes",
  };
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
function sayWhy() {
  let why = { asking: "getting_next" }[outbox.state] ?? outbox.state;
  if (outbox.offline) why = "offline";
  if (outbox.ended) why = "ended";
  question.textContent = say(why);
  description.textContent = why === "getting_next" ? "" : say(`${why}_more`);
}

function renderHistory() {
  const rows = outbox.past.slice(0, MOST_SHOWN).map((entry) => {
    const label = entry.question.label?.name ?? say("a_label");
    const told = (entry.question.label || entry.said === "can't tell") ? IN_WORDS[entry.said] : entry.said;
    const button = make("button", undefined, {
      type: "button",
      // An answer waits for a moment before it is sent; that is worth a mark only where there is no connection.
      className: entry.fate === "kept" && !outbox.offline ? "" : entry.fate,
      title: say(`fate_${entry.fate}`),
      disabled: !canComeBack(entry),
      onclick: () => undo(entry),
    });
    button.setAttribute("aria-label", say("take_back", { label: label.slice(0, 80), answer: told }));
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
  if (outbox.offline) text = n ? count("kept_here", n) : say("no_connection");
  if (outbox.ended && n) text = count("not_sent", n);
  notice.hidden = !text;
  if (notice.textContent !== (text ?? "")) notice.textContent = text ?? "";
}

function notCounted({ question: { label }, said: what }) {
  return say("not_counted", { answer: IN_WORDS[what] ?? what, label: label?.name.slice(0, 80) ?? say("a_label") });
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
  const why = await outbox.undo(entry);
  said = why && say(why);
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
  if (event.key === "?" || event.key === "؟") return { now: () => help.showModal() };
  const label = choose.hidden ? null : labels.numbered(event.key);
  if (label) return { now: () => outbox.answer(label.name) };
  const move = outbox.together && { j: 1, k: -1 }[latin(event)];
  if (move) return { now: () => step(move), repeats: true };
  const player = item.querySelector("audio, video");
  if (player && latin(event) === "p") return { now: () => (player.paused ? player.play() : player.pause()) };
  const what = keys.meaning(event);
  if (!what) return null;
  return { now: () => (what === "undo" ? undo() : answer(what)) };
}

// A key that scrolls does so in the item, or in what is looked at, wherever the focus is.
function scroll(event) {
  if (event.key === " " && event.target instanceof HTMLButtonElement) return null;
  if (event.target.closest?.("pre, table, audio, video")) return null;
  if (event.target === labels.search && !["ArrowUp", "ArrowDown", "PageUp", "PageDown"].includes(event.key)) return null;
  const place = outputs.contains(event.target) ? outputs : item;
  const by = scrolling(event, place);
  return by && { now: () => place.scrollBy({ left: by[0], top: by[1] }), repeats: true };
}

const main = document.querySelector("main");
let start = null;
main.addEventListener("pointerdown", (event) => {
  const isOurs = !choose.contains(event.target) && !event.target.closest("pre, table, audio, video, button, .judged");
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
    // A swipe goes where the button is.
    if (Math.abs(across) >= SWIPE) answer(across > 0 !== isRightToLeft ? "yes" : "no");
  });
}

const showKeys = () => keys.show({ ...answers, undo: element("undo") });
letChange(keys, help, showKeys);
letChoose(element("language"));
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
