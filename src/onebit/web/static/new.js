// Making a study: the table, its columns, the aim, the plan.

import { element } from "./calls.js";
import {
  Refusal,
  attempt,
  chosenColumns,
  forget,
  lines,
  modelsInWords,
  note,
  numbersAreGood,
  post,
  readTables,
  restInWords,
  showColumnFields,
  table,
  ticked,
} from "./form.js";

const kind = () => document.querySelector("[name=kind]:checked").value;

function show(called) {
  element("name").value ||= called.split("/").pop().replace(/\.\w+$/, "");
  element("gold-field").hidden = !table.names.length;
  for (const id of ["aim", "more", "plan"]) element(id).hidden = false;
  turn();
}

// Each kind of study has fields of its own; labels are always needed to train a classifier, and rarely to choose a model.
function turn() {
  for (const each of document.querySelectorAll("[data-kind]")) each.hidden = each.dataset.kind !== kind();
  element(kind() === "training" ? "labels-here" : "labels-more").append(element("labels-field"));
  changed();
}

element("kind").addEventListener("input", turn);

// What was planned holds for what was chosen then.
const ABOUT_PLANS = element("plan-words").textContent;
let nChanges = 0;

function withoutPlan(words = ABOUT_PLANS) {
  element("create").disabled = true;
  element("plan-figures").hidden = true;
  element("plan-notes").hidden = true;
  element("plan-words").textContent = words;
}

function changed() {
  nChanges += 1;
  withoutPlan();
  const trains = kind() === "training";
  showColumnFields(!trains);
  element("gold-share-field").hidden = !element("gold").value;
  const protocol = document.querySelector("[name=protocol]:checked")?.value;
  element("exhaustive-field").hidden = protocol !== "follow-up";
  const isGate = Boolean(element("baseline").value.trim());
  element("eps-field").hidden = isGate || trains;
  for (const each of document.querySelectorAll("[data-gate]")) each.hidden = !isGate;
  element("ranks-fields").hidden = isGate || trains;
  element("panel-fields").hidden = protocol !== "panel";
  // A number that is not shown is not used; if it is out of range, nobody should have to find it.
  for (const field of document.querySelectorAll("input[type=number]")) field.disabled = field.closest("[hidden]") !== null;
  element("rest").textContent = trains ? learnedInWords() : modelsInWords(judgeColumns());
}

function learnedInWords() {
  const texts = ticked("text");
  return texts.length ? `The classifier learns from ${texts.join(", ")} alone.` : restInWords("numbers to learn from", []);
}

// The columns that are a judge's: the one named, or those whose names are a model's with something around it.
function judgeColumns() {
  const judge = element("judge").value.trim();
  const [before, after] = judge.split("*");
  if (!judge || after === undefined || table.names.includes(judge)) return [judge];
  const least = before.length + after.length + 1;
  return table.names.filter((name) => name.length >= least && name.startsWith(before) && name.endsWith(after));
}

// Right labels are left out or planted, not both.
for (const [id, other] of [["gold", "truth"], ["truth", "gold"]]) {
  element(id).addEventListener("input", ({ target }) => {
    if (target.value && element(other).value === target.value) element(other).value = "";
  });
}

for (const id of ["columns", "aim", "more"]) element(id).addEventListener("input", ({ target }) => {
  forget(target.name === "protocol" ? element("protocol") : target);
  if (!["name", "instructions", "descriptions"].includes(target.id)) changed();
});

// "label: what it means"; a tab, as a spreadsheet gives it, serves labels that have a colon themselves.
function descriptions() {
  return Object.fromEntries(lines("descriptions").map((line) => {
    const [, label, meaning] = line.match(/^([^\t]+)\t(.*)$/) ?? line.match(/^([^:]+):(.*)$/) ?? [];
    if (!label) throw new Refusal(`“${line.slice(0, 40)}” has no colon; write the label, a colon, and what it means`, "descriptions");
    return [label.trim(), meaning.trim()];
  }));
}

// Everything that the page asks for, by the names of the API.
function chosen() {
  const trains = kind() === "training";
  const body = { ...chosenColumns(!trains), kind: kind(), descriptions: descriptions() };
  const protocol = document.querySelector(`[name=${trains ? "training-protocol" : "protocol"}]:checked`);
  if (!protocol) throw new Refusal("Choose how to ask: each way assumes something else.", "protocol");
  body.protocol = protocol.value;
  if (!trains && body.protocol === "follow-up" && element("exhaustive").checked) body.exhaustive = true;
  if (body.protocol === "panel") {
    for (const id of ["equal", "empty"]) body[id] = element(id).value;
    if (element("one-at-a-time").checked) body.one_at_a_time = true;
  }
  if (!trains && element("judge").value.trim()) body.judge = element("judge").value.trim();
  if (trains && ticked("text").length) body.text = ticked("text");
  if (element("gold").value) body.gold = element("gold").value;
  const baseline = trains ? "" : element("baseline").value.trim();
  if (baseline) Object.assign(body, { baseline, candidates: lines("candidates") });
  const aim = baseline ? ["margin"] : ["eps", "top"];
  if (!trains && !baseline && element("tiers").checked) body.tiers = true;
  if (trains && element("none-of-these").checked) body.none_of_these = true;
  for (const id of [...(trains ? ["target"] : aim), "f-no", "f-yes", "delta", "overlap", "repeat-share", "budget"])
    if (element(id).value) body[id.replace("-", "_")] = Number(element(id).value);
  if (body.gold) body.gold_share = Number(element("gold-share").value);
  const labels = lines("labels");
  if (labels.length) body.labels = labels;
  if (trains && !labels.length && !body.truth)
    throw new Refusal("Name the labels that raters are asked about, one per line.", "labels");
  return body;
}

const number = (value) => value.toLocaleString("en");
const hours = (value) => (value < 1 ? `${Math.max(1, Math.round(60 * value))} min` : `${value.toFixed(1)} h`);
const range = ([low, high], write) => (write(low) === write(high) ? write(low) : `${write(low)} – ${write(high)}`);

element("plan-button").addEventListener("click", (event) => {
  if (!numbersAreGood()) return;
  attempt(event.target, "Planning …", async () => {
    const body = chosen();
    const planned = nChanges;
    withoutPlan("The plan is being worked out. With a large table or a busy server this can take a minute.");
    const plan = await post("plan", body).catch((error) => {
      withoutPlan();
      throw error;
    });
    if (planned !== nChanges) return withoutPlan("Something was changed while the plan was worked out. Show the plan again.");
    const [low, about, high] = plan.answers;
    const trains = body.kind === "training";
    element("plan-answers").textContent = trains ? range([low, high], number) : number(about);
    const words = trains ? (body.target ? "answers at most" : "answers in all") : `answers, likely ${range([low, high], number)}`;
    element("plan-answers-words").textContent = plan.at_least ? "answers at least" : words;
    element("plan-hours").textContent = range([plan.hours[0], plan.hours[2]], hours);
    element("plan-hours-words").textContent = `of one rater, at ${plan.seconds_per_answer} seconds per answer`;
    const sizes = trains ? ["items", "labels"] : ["models", "items", "labels"];
    element("plan-table-words").textContent = sizes.join(", ");
    element("plan-table").textContent = sizes.map((each) => number(plan[each])).join(" · ");
    element("plan-figures").hidden = false;
    note("plan-notes", plan.notes.filter((each) => !table.notes.includes(each)));
    const checked = body.overlap > 1 || body.repeat_share || body.gold_share ? " Answers that check raters are among them." : "";
    const guess = body.protocol === "panel"
      ? "Rehearsed on your table with imagined verdicts: texts do not say who is right. Fewer if models differ clearly, more if they are nearly equal."
      : "Rehearsed on your table with imagined right labels. Fewer if one model is clearly ahead, more if the best are nearly equal.";
    element("plan-words").textContent = trains
      ? `${body.target ? "Training ends when the target is shown, or all answers are used." : "Training uses all of these answers."}${checked}`
      : `${guess}${checked} A forecast, not a promise.`;
    element("create").disabled = false;
  });
});

element("form").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(element("create"), "Starting …", async () => {
    const body = { ...chosen(), name: element("name").value, instructions: element("instructions").value };
    const { study } = await post("studies", body);
    location.assign(`/studies/${study}`);
  });
});

readTables(show);
