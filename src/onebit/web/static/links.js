// The owners' links: made, ended, and all replaced by a new one.

const api = "/api/v1/owner-links";
const element = (id) => document.getElementById(id);

async function send(method, path, body) {
  const response = await fetch(path, {
    method,
    headers: body ? { "Content-Type": "application/json" } : {},
    body: body && JSON.stringify(body),
  });
  const told = await response.json();
  if (!response.ok) throw new Error(told.error);
  return told;
}

// Do something, and say so if it cannot be done.
async function attempt(action) {
  const problem = element("problem");
  problem.hidden = true;
  try {
    await action();
  } catch (error) {
    problem.textContent = error.message;
    problem.hidden = false;
  }
}

async function make(path) {
  const form = element("new-link");
  if (!form.reportValidity()) return;
  const { url } = await send("POST", path, { name: element("name").value });
  element("made-url").textContent = url;
  element("made").hidden = false;
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
