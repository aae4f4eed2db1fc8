// Making a study: the table, its columns, the aim, the plan.

import { element } from "./calls.js";

const api = "/api/v1";
const more = element("more");
let source = null;
let names = [];
let ofNoModel = []; // columns of a log that are no model's
let noted = []; // what was told when the table was read

// Something that was refused; the field that it is about is named as the API names it.
class Refusal extends Error {
  constructor(message, field) {
    super(message);
    this.field = field;
  }
}

async function call(path, options) {
  const response = await fetch(`${api}/${path}`, options);
  const told = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refusal(told.error ?? `the server answered ${response.status}`, told.field);
  return told;
}

const post = (path, body) =>
  call(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

const fieldOf = (name) => element(name === "upload" ? "file" : name.replaceAll("_", "-"));

function forget(field) {
  element(`${field.id}-problem`)?.remove();
  field.removeAttribute("aria-invalid");
  field.removeAttribute("aria-describedby");
}

// Say what was refused: at its field, or below the form.
function tell(error) {
  const field = error.field ? fieldOf(error.field) : null;
  const problem = element("problem");
  problem.textContent = error.message;
  problem.hidden = Boolean(field);
  if (!field) return problem.scrollIntoView({ block: "nearest" });
  if (more.contains(field)) more.open = true;
  forget(field);
  const note = Object.assign(document.createElement("p"), {
    id: `${field.id}-problem`,
    className: "refused",
    textContent: error.message,
  });
  note.setAttribute("role", "alert");
  field.closest(".field, fieldset").append(note);
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", note.id);
  field.scrollIntoView({ block: "center" });
  field.focus();
}

async function attempt(button, words, action) {
  element("problem").hidden = true;
  for (const field of document.querySelectorAll("[aria-invalid]")) forget(field);
  const before = button?.textContent;
  if (button) Object.assign(button, { disabled: true, textContent: words });
  let told = null;
  try {
    await action();
  } catch (error) {
    told = error;
  }
  if (button) Object.assign(button, { disabled: false, textContent: before });
  if (told) tell(told);
}

function reading(text) {
  element("reading").textContent = text;
  element("reading").hidden = !text;
}

function upload() {
  const [file] = element("file").files;
  if (!file) return;
  attempt(null, "", async () => {
    reading("Uploading …");
    try {
      const query = new URLSearchParams({ name: file.name });
      const told = await call(`tables?${query}`, { method: "POST", body: file });
      show({ upload: told.upload }, told, file.name);
    } catch (error) {
      throw new Refusal(error.message, "upload");
    } finally {
      reading("");
    }
  });
}

element("file").addEventListener("change", upload);
// Whoever was quicker than this script has chosen a file already.
upload();

element("path").addEventListener("change", (event) => {
  const path = event.target.value.trim();
  if (path) attempt(null, "", async () => show({ path }, await post("columns", { path }), path));
});

function show(from, told, called) {
  source = from;
  names = told.columns;
  ofNoModel = told.of_no_model;
  noted = told.notes;
  note("notes", noted);
  for (const id of ["id", "truth", "reference", "media", "gold", "model", "output"]) {
    const none = new Option("none", "");
    element(id).replaceChildren(none, ...names.map((name) => new Option(name, name)));
  }
  element("long").checked = Boolean(told.long);
  element("model").value = told.long?.model ?? "";
  element("output").value = told.long?.output ?? "";
  element("id").value = told.long?.item ?? names.find((name) => /^(id|item|item_id|key)$/i.test(name)) ?? "";
  element("truth").value = names.find((name) => /^(truth|label|gold|y|target)$/i.test(name)) ?? "";
  element("reference").value = names.find((name) => /^(reference|reference_answer)$/i.test(name)) ?? "";
  element("models").value = pattern() ?? "";
  element("media").value = names.find((name) => /^(image|picture|photo|audio|sound|recording|video|film|media)$/i.test(name)) ?? "";
  for (const id of ["show", "text"])
    boxes(id, (name) => /^(text|message|question|title|body|prompt|content|sentence|utterance|input)$/i.test(name));
  element("name").value ||= called.split("/").pop().replace(/\.\w+$/, "");
  element("columns").hidden = !names.length;
  element("gold-field").hidden = !names.length;
  for (const id of ["aim", "more", "plan"]) element(id).hidden = false;
  turn();
}

// "answer_*" where columns of a usual name differ in what stands there alone.
function pattern() {
  const usual = /^(answer|output|response|prediction|completion)[_.: ]/i;
  const found = names.map((name) => name.match(usual)?.[0]).filter(Boolean);
  const first = found[0];
  return found.length > 1 && found.every((each) => each === first) ? `${first}*` : null;
}

// What was left out of the table, or counted otherwise than it looks, in sentences.
function note(id, sentences) {
  const lines = sentences.map((text) => Object.assign(document.createElement("li"), { textContent: `${text}.` }));
  element(id).replaceChildren(...lines);
  element(id).hidden = !lines.length;
}

const isLong = () => kind() === "selection" && element("long").checked;
const kind = () => document.querySelector("[name=kind]:checked").value;
const ticked = (id) => [...element(id).querySelectorAll(":checked")].map((box) => box.value);

// Each kind of study has fields of its own; labels are always needed to train a classifier, and rarely to choose a model.
function turn() {
  for (const each of document.querySelectorAll("[data-kind]")) each.hidden = each.dataset.kind !== kind();
  element(kind() === "training" ? "labels-here" : "labels-more").append(element("labels-field"));
  changed();
}

element("kind").addEventListener("input", turn);

function boxes(id, isTicked) {
  element(id).replaceChildren(
    ...names.map((name) => {
      const box = Object.assign(document.createElement("input"), { type: "checkbox", value: name });
      box.checked = isTicked(name);
      const label = document.createElement("label");
      label.append(box, name);
      return label;
    }),
  );
}

// What was planned holds for what was chosen then.
function changed() {
  element("create").disabled = true;
  element("plan-figures").hidden = true;
  element("plan-notes").hidden = true;
  // A log has a column for each model already.
  element("long-choice").hidden = kind() !== "selection" || ofNoModel.length > 0;
  element("long-fields").hidden = !isLong();
  element("models-field").hidden = isLong() || kind() !== "selection";
  for (const id of ["media-folder-field", "media-hosts-field"]) element(id).hidden = !element("media").value;
  element("gold-share-field").hidden = !element("gold").value;
  const protocol = document.querySelector("[name=protocol]:checked")?.value;
  element("exhaustive-field").hidden = protocol !== "follow-up";
  const isGate = Boolean(element("baseline").value.trim());
  element("eps-field").hidden = isGate || kind() === "training";
  for (const each of document.querySelectorAll("[data-gate]")) each.hidden = !isGate;
  element("ranks-fields").hidden = isGate || kind() === "training";
  element("panel-fields").hidden = protocol !== "panel";
  const roles = ["id", "truth", "reference", "media", "gold"].map((id) => element(id).value);
  const other = new Set([...roles, ...ofNoModel, ...ticked("show"), ...(kind() === "training" ? [] : judgeColumns())]);
  const [before, after] = element("models").value.split("*");
  const isModel = (name) => after === undefined || (name.startsWith(before) && name.endsWith(after));
  const rest = names.filter((name) => (kind() === "selection" && element("models").value ? isModel(name) : !other.has(name)));
  const some = rest.slice(0, 6).join(", ") + (rest.length > 6 ? ", …" : "");
  const what = kind() === "training" ? "numbers to learn from" : "models";
  const texts = kind() === "training" ? ticked("text") : [];
  const which = kind() === "selection" && element("models").value ? "These columns" : "All other columns";
  element("rest").textContent = texts.length
    ? `The classifier learns from ${texts.join(", ")} alone.`
    : `${which} are ${what}: ${rest.length} (${some}).`;
  if (isLong()) element("rest").textContent = longInWords();
}

function longInWords() {
  const [model, output] = ["model", "output"].map((id) => element(id).value);
  return model && output
    ? `The models are those that the column ${model} names; ${output} has what they say.`
    : "Say which columns name the model and have what it says.";
}

// The columns that are a judge's: the one named, or those whose names are a model's with something around it.
function judgeColumns() {
  const judge = element("judge").value.trim();
  const [before, after] = judge.split("*");
  if (!judge || after === undefined || names.includes(judge)) return [judge];
  const least = before.length + after.length + 1;
  return names.filter((name) => name.length >= least && name.startsWith(before) && name.endsWith(after));
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

const lines = (id) => element(id).value.split("\n").map((line) => line.trim()).filter(Boolean);

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
  const body = { ...source, kind: kind(), show: ticked("show"), descriptions: descriptions() };
  const protocol = document.querySelector(`[name=${trains ? "training-protocol" : "protocol"}]:checked`);
  if (!protocol) throw new Refusal("Choose how to ask: each way assumes something else.", "protocol");
  body.protocol = protocol.value;
  if (!trains && body.protocol === "follow-up" && element("exhaustive").checked) body.exhaustive = true;
  if (body.protocol === "panel") {
    for (const id of ["equal", "empty"]) body[id] = element(id).value;
    if (element("one-at-a-time").checked) body.one_at_a_time = true;
  }
  if (isLong()) body.long = true;
  const named = trains ? [] : ["reference", ...(isLong() ? ["model", "output"] : ["models"])];
  for (const id of named) if (element(id).value) body[id] = element(id).value;
  if (!trains && element("judge").value.trim()) body.judge = element("judge").value.trim();
  if (trains && ticked("text").length) body.text = ticked("text");
  for (const id of ["id", "truth", "media", "gold"]) if (element(id).value) body[id] = element(id).value;
  if (element("markdown").checked) body.markdown = true;
  const hosts = element("media-hosts").value.split(/[\s,]+/).filter(Boolean);
  if (body.media && hosts.length) body.media_hosts = hosts;
  const folder = element("media-folder").value.trim();
  if (body.media && (folder || !hosts.length)) body.media_folder = folder || ".";
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

// Numbers that a browser can refuse itself; it says so at the field, which must be in sight.
function numbersAreGood() {
  const bad = [...document.querySelectorAll("input[type=number]")].find((field) => !field.checkValidity());
  if (!bad) return true;
  if (more.contains(bad)) more.open = true;
  bad.reportValidity();
  return false;
}

const number = (value) => value.toLocaleString("en");
const hours = (value) => (value < 1 ? `${Math.max(1, Math.round(60 * value))} min` : `${value.toFixed(1)} h`);
const range = ([low, high], write) => (write(low) === write(high) ? write(low) : `${write(low)} – ${write(high)}`);

element("plan-button").addEventListener("click", (event) => {
  if (!numbersAreGood()) return;
  attempt(event.target, "Simulating …", async () => {
    const body = chosen();
    const plan = await post("plan", body);
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
    note("plan-notes", plan.notes.filter((each) => !noted.includes(each)));
    const checked = body.overlap > 1 || body.repeat_share || body.gold_share ? " Answers that check raters are among them." : "";
    const guess = body.protocol === "panel"
      ? "Rehearsed on your table with imagined verdicts: texts do not say who is right. Fewer if models differ clearly, more if they are nearly equal."
      : "Rehearsed on your table with imagined right labels. Fewer if one model is clearly ahead, more if the best are nearly equal.";
    element("plan-words").textContent = trains
      ? `Training uses the maximum number of answers, unless a target is shown before.${checked}`
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
