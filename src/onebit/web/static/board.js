// The dashboard: renews itself when something happened, and does what its buttons say.

import { attempt, element, send, showLink } from "./calls.js";

const { study } = document.body.dataset;
const api = `/api/v1/studies/${study}`;
const live = element("live");
let paused = document.body.dataset.paused === "yes";

let renewing = null;
let again = false;
async function renew() {
  if (renewing) {
    again = true;
    return renewing;
  }
  renewing = (async () => {
    do {
      again = false;
      const response = await fetch(`/studies/${study}/live`);
      if (!response.ok) return;
      const part = document.createElement("template");
      part.innerHTML = await response.text();
      const opened = live.querySelector("#ruled-out")?.open;
      const focused = document.activeElement?.dataset?.link;
      live.replaceChildren(part.content);
      if (opened) live.querySelector("#ruled-out")?.setAttribute("open", "");
      if (focused) live.querySelector(`[data-link="${focused}"]`)?.focus();
    } while (again);
  })().finally(() => (renewing = null));
  return renewing;
}

function showPaused(now) {
  paused = now;
  element("pause").textContent = paused ? "Go on" : "Pause";
}

element("pause").addEventListener("click", () =>
  attempt(async () => {
    showPaused((await send("POST", `${api}/pause`, { paused: !paused })).paused);
    await renew();
  }));

element("new-link").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(async () => {
    const { url } = await send("POST", `${api}/links`, { rater: element("rater").value });
    showLink(url);
    event.target.reset();
    await renew();
  });
});

element("copy").addEventListener("click", (event) =>
  attempt(async () => {
    await navigator.clipboard.writeText(element("made-url").textContent);
    event.target.textContent = "Copied";
    setTimeout(() => (event.target.textContent = "Copy"), 1500);
  }));

live.addEventListener("click", (event) => {
  const button = event.target.closest(".revoke");
  if (!button || !confirm(`End the link of ${button.dataset.rater} now?`)) return;
  attempt(async () => {
    await send("DELETE", `${api}/links/${button.dataset.link}`);
    await renew();
  });
});

element("delete").addEventListener("click", ({ currentTarget: { dataset: { name } } }) => {
  const typed = prompt(`This deletes the study with all its answers and links for good. Type its name to do so: ${name}`);
  if (typed === null) return;
  attempt(async () => {
    await send("POST", `${api}/delete`, { name: typed });
    location.assign("/");
  });
});

element("rename").addEventListener("click", ({ currentTarget: { dataset: { name } } }) => {
  const typed = prompt("The new name of the study:", name);
  if (typed === null || typed === name) return;
  attempt(async () => {
    await send("POST", `${api}/rename`, { name: typed });
    location.reload();
  });
});

element("archive").addEventListener("click", ({ currentTarget: { dataset: { archived } } }) =>
  attempt(async () => {
    await send("POST", `${api}/archive`, { archived: archived === "no" });
    location.assign(archived === "no" ? "/" : location.href);
  }));

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll(".menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});

const events = new EventSource(`${api}/live`);
events.addEventListener("message", (event) => {
  element("connection").hidden = true;
  showPaused(JSON.parse(event.data).paused);
  renew();
});
events.addEventListener("error", () => (element("connection").hidden = false));
