// Making a study: the table, its columns, the aim, the plan.

const element = (id) => document.getElementById(id);
const api = "/api/v1";
let source = null;
let names = [];

async function call(path, options) {
  const response = await fetch(`${api}/${path}`, options);
  const told = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(told.error ?? `the server answered ${response.status}`);
  return told;
}

const post = (path, body) =>
  call(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

async function attempt(button, words, action) {
  const problem = element("problem");
  problem.hidden = true;
  const before = button?.textContent;
  if (button) Object.assign(button, { disabled: true, textContent: words });
  try {
    await action();
  } catch (error) {
    problem.textContent = error.message;
    problem.hidden = false;
    problem.scrollIntoView({ block: "nearest" });
  } finally {
    if (button) Object.assign(button, { disabled: false, textContent: before });
  }
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
      show({ upload: told.upload }, told.columns, file.name);
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
  if (path) attempt(null, "", async () => show({ path }, (await post("columns", { path })).columns, path));
});

function show(from, columns, called) {
  source = from;
  names = columns;
  for (const id of ["id", "truth", "image"]) {
    const none = new Option("none", "");
    element(id).replaceChildren(none, ...names.map((name) => new Option(name, name)));
  }
  element("id").value = names.find((name) => /^(id|item|item_id|key)$/i.test(name)) ?? "";
  element("truth").value = names.find((name) => /^(truth|label|gold|y|target)$/i.test(name)) ?? "";
  element("image").value = names.find((name) => /^(image|picture|photo)$/i.test(name)) ?? "";
  element("show").replaceChildren(
    ...names.map((name) => {
      const box = Object.assign(document.createElement("input"), { type: "checkbox", value: name });
      box.checked = /^(text|message|question|title|body|prompt|content|sentence)$/i.test(name);
      const label = document.createElement("label");
      label.append(box, name);
      return label;
    }),
  );
  element("name").value ||= called.split("/").pop().replace(/\.\w+$/, "");
  element("columns").hidden = !names.length;
  for (const id of ["aim", "plan"]) element(id).hidden = false;
  changed();
}

function shown() {
  return [...element("show").querySelectorAll(":checked")].map((box) => box.value);
}

// What was planned holds for what was chosen then.
function changed() {
  element("create").disabled = true;
  element("plan-figures").hidden = true;
  element("image-folder-field").hidden = !element("image").value;
  const other = new Set([element("id").value, element("truth").value, element("image").value, ...shown()]);
  const models = names.filter((name) => !other.has(name));
  const some = models.slice(0, 6).join(", ") + (models.length > 6 ? ", …" : "");
  element("models").textContent = `All other columns are models: ${models.length} (${some}).`;
}

for (const id of ["columns", "aim"]) element(id).addEventListener("input", (event) => {
  if (!["name", "instructions"].includes(event.target.id)) changed();
});

function chosen() {
  const body = { ...source, eps: Number(element("eps").value), delta: Number(element("delta").value), show: shown() };
  body.protocol = document.querySelector("[name=protocol]:checked").value;
  for (const id of ["id", "truth", "image"]) if (element(id).value) body[id] = element(id).value;
  return body;
}

const number = (value) => value.toLocaleString("en");
const hours = (value) => (value < 1 ? `${Math.max(1, Math.round(60 * value))} min` : `${value.toFixed(1)} h`);
const range = ([low, high], write) => (write(low) === write(high) ? write(low) : `${write(low)} – ${write(high)}`);

element("plan-button").addEventListener("click", (event) =>
  attempt(event.target, "Simulating …", async () => {
    const plan = await post("plan", chosen());
    element("plan-answers").textContent = range(plan.answers, number);
    element("plan-answers-words").textContent = plan.at_least ? "yes/no answers at least" : "yes/no answers, likely";
    element("plan-hours").textContent = range(plan.hours, hours);
    element("plan-hours-words").textContent = `of one rater, at ${plan.seconds_per_answer} seconds an answer`;
    element("plan-table").textContent = [plan.models, plan.items, plan.labels].map(number).join(" · ");
    element("plan-figures").hidden = false;
    element("plan-words").textContent =
      "Simulated on your table: the lower figure if the majority of models is right, the higher one if models are nearly equal. A forecast, not a promise.";
    element("create").disabled = false;
  }));

element("form").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(element("create"), "Starting …", async () => {
    const body = { ...chosen(), name: element("name").value, instructions: element("instructions").value };
    if (body.image) body.image_folder = element("image-folder").value.trim() || ".";
    const { study } = await post("studies", body);
    location.assign(`/studies/${study}`);
  });
});
