// The owners' links: made, ended, and all replaced by a new one.

import { attempt, element, send, showLink } from "./calls.js";

const api = "/api/v1/owner-links";

async function make(path) {
  const form = element("new-link");
  if (!form.reportValidity()) return;
  const { url } = await send("POST", path, { name: element("name").value });
  showLink(url);
  form.reset();
}

element("new-link").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(() => make(api));
});

element("replace").addEventListener("click", () => {
  if (confirm("End every other link now, yours too? Open the new one to go on.")) attempt(() => make(`${api}/replace`));
});

for (const button of document.querySelectorAll(".end")) {
  button.addEventListener("click", () => {
    if (!confirm("End this link now?")) return;
    attempt(async () => {
      await send("DELETE", `${api}/${button.dataset.link}`);
      button.closest("tr").remove();
    });
  });
}
