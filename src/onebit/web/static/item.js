// How an item and an output are shown: texts in their own direction, code as code, pictures at a size that can be read.

import { say } from "./words.js";

const SHORT = 200; // characters of a text that is shown larger
const LONG = 400; // characters from which on texts stand side by side
const TALL = 2; // a picture that is so many times as high as wide is scrolled, not squeezed

export function make(tag, text, more = {}) {
  return Object.assign(document.createElement(tag), text === undefined ? {} : { textContent: text }, more);
}

// A text as it was written; where the study says so it is Markdown, which the server has made into safe HTML.
export function textOf({ text, html }, tag = "div") {
  const place = make(tag, undefined, { dir: "auto" });
  if (html) {
    place.className = "text markdown";
    place.innerHTML = html;
    for (const link of place.querySelectorAll("a")) Object.assign(link, { target: "_blank", rel: "noopener noreferrer" });
    for (const part of place.querySelectorAll("pre, table")) part.tabIndex = 0;
  } else {
    place.className = text.length < SHORT ? "text short" : "text";
    place.textContent = text;
  }
  return place;
}

// A picture, or a sound or video with the browser's own controls. What cannot be had is said in its place.
function mediaOf(id, { form, address }) {
  const media = form === "image" ? pictureOf(id) : playerOf(id, form);
  media.addEventListener("error", () => media.replaceWith(make("p", say("media_problem"), { className: "notice" })));
  media.src = address;
  return media;
}

function pictureOf(id) {
  const picture = make("img", undefined, { alt: say("picture_of", { id }), draggable: false });
  picture.addEventListener("load", () => {
    picture.classList.toggle("tall", picture.naturalHeight > TALL * picture.naturalWidth);
  });
  return picture;
}

function playerOf(id, form) {
  const player = make(form, undefined, { controls: true, preload: "auto", playsInline: true });
  player.setAttribute("aria-label", say(form === "audio" ? "sound_of" : "film_of", { id }));
  return player;
}

export function partsOf({ id, columns, media }) {
  const parts = media ? [mediaOf(id, media)] : [];
  if (columns.length === 1) {
    parts.push(textOf(columns[0]));
  } else if (columns.length) {
    const sides = make("dl");
    sides.classList.toggle("sides", columns.some(({ text }) => text.length >= LONG));
    for (const column of columns) {
      const row = make("div");
      const text = textOf(column, "dd");
      text.classList.remove("short");
      row.append(make("dt", column.name, { dir: "auto" }), text);
      sides.append(row);
    }
    parts.push(sides);
  } else if (!media) {
    parts.push(make("p", say("item_named", { id }), { className: "text short" }));
  }
  return parts;
}
