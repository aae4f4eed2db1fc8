// What the owner's pages share: calls of the API, and saying what cannot be done.

export const element = (id) => document.getElementById(id);

export async function send(method, path, body) {
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
export async function attempt(action) {
  const problem = element("problem");
  problem.hidden = true;
  try {
    await action();
  } catch (error) {
    problem.textContent = error.message;
    problem.hidden = false;
  }
}

// Show a link that was just made.
export function showLink(url) {
  element("made-url").textContent = url;
  element("made").hidden = false;
}
