// What the pages that make a study share: reading a table, what its columns are, and saying what was refused.

import { element } from "./calls.js";

const api = "/api/v1";
// The table that was read: where it is, its columns, those of a log that are no model's, what was told about it.
export const table = { source: null, names: [], ofNoModel: [], notes: [] };

// Something that was refused; the field that it is about is named as the API names it.
export class Refusal extends Error {
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

export const post = (path, body) =>
  call(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

const fieldOf = (name) => element(name === "upload" ? "file" : name.replaceAll("_", "-"));

// Show a field that may be folded away.
export const unfold = (field) => field.closest("details")?.setAttribute("open", "");

export function forget(field) {
  element(`${field.id}-problem`)?.remove();
  field.removeAttribute("aria-invalid");
  field.removeAttribute("aria-describedby");
}

// Say what was refused: at its field, or below the form if the field is not shown.
function tell(error) {
  const field = error.field ? fieldOf(error.field) : null;
  if (field) unfold(field);
  const isShown = Boolean(field?.getClientRects().length);
  const problem = element("problem");
  problem.textContent = error.message;
  problem.hidden = isShown;
  if (!isShown) return problem.scrollIntoView({ block: "nearest" });
  forget(field);
  const told = Object.assign(document.createElement("p"), {
    id: `${field.id}-problem`,
    className: "refused",
    textContent: error.message,
  });
  told.setAttribute("role", "alert");
  field.closest(".field, fieldset").append(told);
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", told.id);
  field.scrollIntoView({ block: "center" });
  field.focus();
}

export async function attempt(button, words, action) {
  element("problem").hidden = true;
  for (const field of document.querySelectorAll("[aria-invalid]")) forget(field);
  const before = button?.textContent;
  if (button) Object.assign(button, { disabled: true, textContent: words });
  // Whoever waits for more than a moment sees that it goes on.
  const began = Date.now();
  const clock = setInterval(() => {
    if (button) button.textContent = `${words} ${Math.round((Date.now() - began) / 1000)} s`;
  }, 1000);
  let told = null;
  try {
    await action();
  } catch (error) {
    told = error;
  }
  clearInterval(clock);
  if (button) Object.assign(button, { disabled: false, textContent: before });
  if (told) tell(told);
}

// Numbers that a browser can refuse itself; it says so at the field, which must be in sight.
export function numbersAreGood() {
  const bad = [...document.querySelectorAll("input[type=number]")].find((field) => !field.checkValidity());
  if (!bad) return true;
  unfold(bad);
  bad.reportValidity();
  return false;
}

// What was left out of the table, or counted otherwise than it looks, in sentences.
export function note(id, sentences) {
  const lines = sentences.map((text) => Object.assign(document.createElement("li"), { textContent: `${text}.` }));
  element(id).replaceChildren(...lines);
  element(id).hidden = !lines.length;
}

function reading(text) {
  element("reading").textContent = text;
  element("reading").hidden = !text;
}

// Read tables from now on, each as soon as it is named; ``show`` is told what the table is called.
export function readTables(show) {
  const read = (source, told, called) => {
    Object.assign(table, { source, names: told.columns, ofNoModel: told.of_no_model, notes: told.notes });
    note("notes", table.notes);
    fillColumns(told);
    show(called);
  };
  const upload = () => {
    const [file] = element("file").files;
    if (!file) return;
    attempt(null, "", async () => {
      reading("Uploading …");
      try {
        const query = new URLSearchParams({ name: file.name });
        const told = await call(`tables?${query}`, { method: "POST", body: file });
        read({ upload: told.upload }, told, file.name);
      } catch (error) {
        throw new Refusal(error.message, "upload");
      } finally {
        reading("");
      }
    });
  };
  element("file").addEventListener("change", upload);
  // Whoever was quicker than this script has chosen a file already.
  upload();
  element("path").addEventListener("change", (event) => {
    const path = event.target.value.trim();
    if (!path) return;
    attempt(null, "", async () => {
      reading("Reading …");
      try {
        read({ path }, await post("columns", { path }), path);
      } finally {
        reading("");
      }
    });
  });
}

// Offer the columns of the table for every use, and guess which is which.
function fillColumns(told) {
  const { names } = table;
  const named = (usual) => names.find((name) => usual.test(name)) ?? "";
  for (const id of ["id", "truth", "reference", "media", "gold", "model", "output"])
    element(id)?.replaceChildren(new Option("none", ""), ...names.map((name) => new Option(name, name)));
  element("long").checked = Boolean(told.long);
  element("model").value = told.long?.model ?? "";
  element("output").value = told.long?.output ?? "";
  element("id").value = told.long?.item ?? named(/^(id|item|item_id|key)$/i);
  element("truth").value = named(/^(truth|label|gold|y|target)$/i);
  element("reference").value = named(/^(reference|reference_answer)$/i);
  element("models").value = pattern() ?? "";
  element("media").value = named(/^(image|picture|photo|audio|sound|recording|video|film|media)$/i);
  for (const id of ["show", "text"])
    boxes(id, (name) => /^(text|message|question|title|body|prompt|content|sentence|utterance|input)$/i.test(name));
  element("columns").hidden = !names.length;
}

// "answer_*" where columns of a usual name differ in what stands there alone.
function pattern() {
  const usual = /^(answer|output|response|prediction|completion)[_.: ]/i;
  const found = table.names.map((name) => name.match(usual)?.[0]).filter(Boolean);
  const first = found[0];
  return found.length > 1 && found.every((each) => each === first) ? `${first}*` : null;
}

function boxes(id, isTicked) {
  element(id)?.replaceChildren(
    ...table.names.map((name) => {
      const box = Object.assign(document.createElement("input"), { type: "checkbox", value: name });
      box.checked = isTicked(name);
      const label = document.createElement("label");
      label.append(box, name);
      return label;
    }),
  );
}

export const ticked = (id) => [...element(id).querySelectorAll(":checked")].map((box) => box.value);
export const lines = (id) => element(id).value.split("\n").map((line) => line.trim()).filter(Boolean);
export const isLong = () => element("long").checked;

// Show the fields of the columns that matter, where models are chosen from, or not.
export function showColumnFields(ofModels) {
  // A log has a column for each model already.
  element("long-choice").hidden = !ofModels || table.ofNoModel.length > 0;
  element("long-fields").hidden = !ofModels || !isLong();
  element("models-field").hidden = !ofModels || isLong();
  for (const id of ["media-folder-field", "media-hosts-field"]) element(id).hidden = !element("media").value;
}

const some = (names) => `${names.length} (${names.slice(0, 6).join(", ")}${names.length > 6 ? ", …" : ""})`;

// The columns that have no other use, in words.
export function restInWords(what, others) {
  const roles = ["id", "truth", "reference", "media", "gold"].map((id) => element(id)?.value);
  const used = new Set([...roles, ...table.ofNoModel, ...ticked("show"), ...others]);
  return `All other columns are ${what}: ${some(table.names.filter((name) => !used.has(name)))}.`;
}

// The models of the table, in words; ``others`` are columns that are none for another reason.
export function modelsInWords(others) {
  const [model, output] = ["model", "output"].map((id) => element(id).value);
  if (isLong())
    return model && output
      ? `The models are those that the column ${model} names; ${output} has what they say.`
      : "Say which columns name the model and have what it says.";
  if (!element("models").value) return restInWords("models", others);
  const [before, after] = element("models").value.split("*");
  const isModel = (name) => after === undefined || (name.startsWith(before) && name.endsWith(after));
  return `These columns are models: ${some(table.names.filter(isModel))}.`;
}

// What the columns are, by the names of the API.
export function chosenColumns(ofModels) {
  const body = { ...table.source, show: ticked("show") };
  if (ofModels && isLong()) body.long = true;
  const named = ofModels ? ["reference", ...(isLong() ? ["model", "output"] : ["models"])] : [];
  for (const id of [...named, "id", "truth", "media"]) if (element(id).value) body[id] = element(id).value;
  if (element("markdown").checked) body.markdown = true;
  const hosts = element("media-hosts").value.split(/[\s,]+/).filter(Boolean);
  if (body.media && hosts.length) body.media_hosts = hosts;
  const folder = element("media-folder").value.trim();
  if (body.media && (folder || !hosts.length)) body.media_folder = folder || ".";
  return body;
}
