// Choice of a language, with the one that the server identifies as the default.

import { requestJson } from "./api.js";

const names = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });
const PAUSE = 400;

export function languageName(code) {
  try {
    return names.of(code) ?? code;
  } catch {
    return code; // not an ISO code
  }
}

/* A select whose first option is the guess; `value` is the chosen language, or the guessed one. */
export class LanguageChoice {
  constructor(select, languages) {
    this.select = select;
    this.languages = languages;
    this.guess = null;
    this.automatic = new Option("", "");
    select.replaceChildren(this.automatic, ...languages.map((code) => new Option(languageName(code), code)));
    this.show(null, "detect");
  }

  /* An unknown language, for example from a link, is ignored; returns whether it was known. */
  choose(code) {
    const known = !code || this.languages.includes(code);
    this.select.value = known ? code ?? "" : "";
    return known;
  }

  get chosen() { return this.select.value; }

  get value() { return this.select.value || (this.guess?.supported ? this.guess.lang : ""); }

  show(guess, otherwise = "not identified: choose") {
    this.guess = guess;
    if (!guess) this.automatic.textContent = otherwise;
    else if (guess.supported) this.automatic.textContent = `${languageName(guess.lang)} (identified)`;
    else this.automatic.textContent = `${languageName(guess.lang)}, which the model does not know`;
  }
}

/* Identify the languages of text boxes a moment after the last key. */
export class Detector {
  constructor(pairs) {
    this.pairs = pairs; // [text area, LanguageChoice]
    for (const [box] of pairs) box.addEventListener("input", () => this.later());
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.now().catch(() => {}), PAUSE); // scoring reports a dead server
  }

  async now() {
    clearTimeout(this.timer);
    const texts = this.pairs.map(([box]) => box.value);
    const there = texts.map((text, place) => [text.slice(0, 2000), place]).filter(([text]) => text.trim());
    if (texts.join("\0") === this.last) return;
    const { guesses } = there.length
      ? await requestJson("/api/identify", { texts: there.map(([text]) => text) })
      : { guesses: [] };
    this.last = texts.join("\0");
    this.pairs.forEach(([, choice]) => choice.show(null, "detect"));
    there.forEach(([, place], index) => this.pairs[place][1].show(guesses[index]));
  }
}
