// The rater's questions and answers: what is at hand, what has still to be sent, what was said last.
//
// Answers wait here until the server has them, also over a reload; each carries a token, so that sending one twice
// counts once. The newest waits for a moment longer, so that taking it back needs nobody's consent.

import { language } from "./words.js";

const GRACE = 2500; // milliseconds in which the newest answer can be taken back before it is sent
const AT_HAND = 3; // questions to have ready, the one that is shown among them
const MOST = 5; // questions that the server lets a rater hold
const REMEMBERED = 40; // answers that can be looked at and taken back here: those of one item with many outputs at least
const POLL = { waiting: 1500, paused: 5000, done: 20000 };
const LONGEST_RETRY = 8000;
const RETRY_LINK = 30000; // a link that does not work may work again: a clock was wrong, or a proxy

export class LinkError extends Error {}

export class Outbox {
  constructor(token, changed) {
    this.token = token;
    this.changed = changed;
    // By who answers, not by the link: what could not be sent by a link that has ended is sent by the next one.
    this.place = `onebit answers ${document.body.dataset.who}`;
    this.state = "asking";
    this.progress = { words: "", own: 0 };
    this.together = false; // whether questions about one item are shown together
    this.offline = false;
    this.stale = true; // what is at hand may not be what the server would give
    this.refused = null; // the last answer that did not count
    this.ended = null;
    this.failures = 0;
    this.timer = null;
    this.work = Promise.resolve();
    const kept = this.#load();
    this.questions = kept.questions ?? [];
    this.together = kept.together ?? false;
    this.unsent = kept.unsent ?? [];
    this.past = kept.past ?? [];
    addEventListener("online", () => this.pump());
    addEventListener("visibilitychange", () => this.pump({ all: document.visibilityState === "hidden" }));
    addEventListener("pagehide", () => this.pump({ all: true }));
  }

  // The rater's own answers, those that are not sent yet among them.
  get own() {
    return this.progress.own + this.unsent.length;
  }

  get current() {
    return this.questions[0] ?? null;
  }

  // Answer a question that is at hand: the first, unless another one is named.
  answer(said, question = this.current) {
    if (!question) return;
    this.questions = this.questions.filter((each) => each !== question);
    const entry = { question, said, token: newToken(), at: Date.now(), fate: "kept" };
    this.unsent.push(entry);
    this.past = [entry, ...this.past].slice(0, this.together ? REMEMBERED : 8);
    this.#save();
    this.changed();
    this.pump();
  }

  // Take an answer back: the newest, or a given one. Resolves to the text that the rater is told, by its key, or null.
  async undo(entry = this.past.find(canComeBack)) {
    if (!entry) return null;
    if (this.unsent.includes(entry) && !entry.sending) {
      this.unsent = this.unsent.filter((each) => each !== entry);
      this.#comesBack(entry);
      return null;
    }
    return this.#next(async () => {
      if (!this.past.includes(entry)) return null;
      const { undone } = await this.#call("undo", meant(entry.question));
      if (undone) {
        this.progress.own -= 1;
        this.#comesBack(entry);
      } else entry.fate = "stands";
      this.#save();
      this.changed();
      return undone ? null : "stands";
    }).catch((error) => {
      if (error.refused) return error.message;
      this.#failed(error);
      return this.offline ? "undo_offline" : "undo_failed";
    });
  }

  // Send what is due, then get questions; one thing at a time, in order.
  pump({ all = false } = {}) {
    clearTimeout(this.timer);
    return this.#next(async () => {
      while (this.#due(all)) await this.#send(this.unsent[0]);
      if (!all && (this.stale || this.questions.length < AT_HAND)) await this.#ask();
      // The answer that is waited for may be the one that is held back here.
      while (!this.current && this.unsent.length) {
        await this.#send(this.unsent[0]);
        if (!this.unsent.length) await this.#ask();
      }
      this.failures = 0;
      this.offline = false;
      this.ended = null;
    })
      .catch((error) => this.#failed(error))
      .finally(() => {
        this.#schedule();
        this.#save();
        this.changed();
      });
  }

  #due(all) {
    const first = this.unsent[0];
    return first && (all || first.again || this.unsent.length > 1 || Date.now() - first.at >= GRACE);
  }

  async #send(entry) {
    entry.sending = true;
    try {
      await this.#call("tell", { ...meant(entry.question), answer: entry.said, token: entry.token });
      entry.fate = "sent";
      this.progress.own += 1;
    } catch (error) {
      // Somebody else was quicker, or the question is another one by now: it is left, and the rater is told. Whatever
      // else is wrong, the answer is kept and sent again.
      if (!error.refused) throw error;
      Object.assign(entry, { fate: "refused", why: error.message });
      this.refused = { entry, at: Date.now() };
      this.stale = true;
    } finally {
      entry.sending = false;
    }
    this.unsent = this.unsent.filter((each) => each !== entry);
    this.#save();
    this.changed();
  }

  async #ask() {
    const n = Math.min(MOST, AT_HAND + this.unsent.length);
    const { state, questions, progress, together } = await this.#call("ask", { n });
    const answered = new Set(this.unsent.map((entry) => entry.question.question));
    const wanted = questions.filter((each) => !answered.has(each.question));
    const shown = this.current && wanted.find((each) => sameQuestion(each, this.current));
    this.questions = shown ? [shown, ...wanted.filter((each) => each !== shown)] : wanted;
    this.stale = false;
    this.state = state;
    this.progress = progress;
    this.together = together;
    for (const { item } of this.questions) if (item.media?.form === "image") new Image().src = item.media.address;
    this.#save();
    this.changed();
  }

  async #call(name, body) {
    const response = await fetch(`/api/v1/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${this.token}`, "Accept-Language": language },
      body: JSON.stringify(body),
      keepalive: true,
      signal: AbortSignal.timeout(30000),
    });
    // What is not ours (the page of a proxy, or of a hotel that wants to be paid) says nothing about the answer.
    const told = await response.json().catch(() => null);
    if (response.ok && told) return told;
    const error = new Error(told?.error ?? `the server answered ${response.status}`);
    if (told?.error) Object.assign(error, { status: response.status, refused: told.refused === true });
    throw error;
  }

  #failed(error) {
    // The link, or this page, is not let in: the rater is told, and it is tried again by and by.
    const isShut = [401, 403, 404].includes(error.status);
    this.ended = isShut ? error.message : null;
    this.offline = !isShut;
    this.failures += 1;
  }

  #schedule() {
    clearTimeout(this.timer);
    let wait = null;
    if (this.ended) wait = RETRY_LINK;
    else if (this.failures) wait = Math.min(LONGEST_RETRY, 500 * 2 ** this.failures);
    else if (this.unsent.length) wait = Math.max(0, this.unsent[0].at + GRACE - Date.now());
    else if (!this.current) wait = POLL[this.state] ?? POLL.waiting;
    if (wait !== null) this.timer = setTimeout(() => this.pump(), wait);
  }

  #comesBack(entry) {
    this.past = this.past.filter((each) => each !== entry);
    this.questions = [entry.question, ...this.questions.filter((each) => each.question !== entry.question.question)];
    this.state = "asking";
    this.#save();
    this.changed();
  }

  // Everything that talks to the server waits for what was begun before it.
  #next(step) {
    const done = this.work.then(step);
    this.work = done.catch(() => {});
    return done;
  }

  #load() {
    try {
      const kept = JSON.parse(localStorage.getItem(this.place)) ?? {};
      // The same objects in both lists, as before.
      // The page before this one may have sent them when it was left. They are sent again before anything is asked, or
      // the server would have counted what is counted here, too.
      const unsent = (kept.unsent ?? []).map((entry) => ({ ...entry, sending: false, again: true }));
      const past = (kept.past ?? []).map((entry) => unsent.find((each) => each.token === entry.token) ?? entry);
      return { questions: kept.questions, together: kept.together, unsent, past };
    } catch {
      return {};
    }
  }

  #save() {
    const { questions, together, unsent, past } = this;
    try {
      localStorage.setItem(this.place, JSON.stringify({ questions, together, unsent, past }));
    } catch {
      // A browser that keeps nothing still sends everything.
    }
  }
}

// A question by its number, and by what the rater saw: numbers are given anew when an older backup is restored.
function meant({ question, item, label }) {
  return { question, item: item.id, label: label?.name ?? null };
}

export function sameQuestion(one, other) {
  return JSON.stringify(one && meant(one)) === JSON.stringify(other && meant(other));
}

export function canComeBack(entry) {
  return entry.fate === "kept" || entry.fate === "sent";
}

// Like crypto.randomUUID, which browsers have on encrypted pages only.
function newToken() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
