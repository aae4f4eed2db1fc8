// The texts of the page in the language that the server chose, and how a rater chooses another.

const PLACE = "onebit language";
const words = JSON.parse(document.getElementById("words").textContent);
// Digits as the server writes them, whatever the language.
const numbers = new Intl.NumberFormat(`${words.language}-u-nu-latn`);
const plurals = new Intl.PluralRules(words.language);

export const language = words.language;
export const isRightToLeft = words.direction === "rtl";

// A text with its places filled.
export function say(key, given = {}) {
  return words[key].replace(/\{(\w+)\}/g, (_, name) => written(given[name]));
}

// A text that depends on how many there are.
export function count(key, n) {
  return (words[key][plurals.select(n)] ?? words[key].other).replace("{n}", written(n));
}

// A text with an element in one of its places: what stands before it, the element, what stands behind.
export function around(key, name, element) {
  const [before, behind] = words[key].split(`{${name}}`);
  return [before, element, behind];
}

function written(value) {
  return typeof value === "number" ? numbers.format(value) : value;
}

// Give the page the language that was chosen before, and let the rater choose. The server writes the page in it.
export function letChoose(select) {
  select.addEventListener("change", () => {
    try {
      localStorage.setItem(PLACE, select.value);
    } catch {
      // A browser that keeps nothing has the choice as long as the address says so.
    }
    open(select.value);
  });
  const address = new URL(location.href);
  const kept = chosenBefore();
  const isOffered = [...select.options].some(({ value }) => value === kept);
  if (isOffered && kept !== language && !address.searchParams.has("language")) open(kept);
}

function chosenBefore() {
  try {
    return localStorage.getItem(PLACE);
  } catch {
    return null;
  }
}

function open(chosen) {
  const address = new URL(location.href);
  address.searchParams.set("language", chosen);
  location.replace(address);
}
