// Going on from a study: with other models or items, or by watching its choice.

import { element } from "./calls.js";
import { attempt, chosenColumns, forget, modelsInWords, numbersAreGood, post, readTables, showColumnFields } from "./form.js";

const { study } = document.body.dataset;
const next = () => document.querySelector("[name=next]:checked").value;

function changed() {
  for (const each of document.querySelectorAll("[data-next]")) each.hidden = each.dataset.next !== next();
  element("name").required = next() === "sequel";
  showColumnFields(true);
  element("rest").textContent = modelsInWords([]);
}

function chosen() {
  const body = { ...chosenColumns(true), instructions: element("instructions").value };
  for (const id of ["equal", "empty"]) body[id] = element(id).value;
  if (element("one-at-a-time").checked) body.one_at_a_time = true;
  body.takes_links = element("takes-links").checked;
  const numbers = next() === "sequel" ? ["budget"] : ["answers", "false-alarm-every"];
  for (const id of numbers) if (element(id).value) body[id.replaceAll("-", "_")] = Number(element(id).value);
  if (next() === "sequel") body.name = element("name").value;
  return body;
}

element("kind").addEventListener("input", changed);
for (const id of ["columns", "aim"]) element(id).addEventListener("input", ({ target }) => {
  forget(target);
  changed();
});

element("form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (!numbersAreGood()) return;
  attempt(element("create"), "Starting …", async () => {
    const made = await post(`studies/${study}/${next()}`, chosen());
    location.assign(`/studies/${made.study}`);
  });
});

readTables((called) => {
  element("name").value ||= called.split("/").pop().replace(/\.\w+$/, "");
  element("aim").hidden = false;
  changed();
});
