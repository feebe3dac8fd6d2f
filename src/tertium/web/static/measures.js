// Choice of measures and of their settings, and bars that show where a score lies.

import { at, element } from "./dom.js";
import { languageName } from "./languages.js";

export const DEFAULT_MEASURES = ["cross", "direct", "prism-ref", "bertscore", "chrf"];
const GROUPS = {
  translation: "By translation: is one text a likely translation or paraphrase of the other?",
  embeddings: "By embeddings: are the words, or the sentences, close in a vector space?",
  surface: "By the surface: do the texts share words or characters?",
};
const HIDDEN = ["weights", "scale", "against"];

export class Measures {
  constructor(measures, languages) {
    this.all = measures;
    this.languages = languages;
    this.values = {};
    for (const [group, title] of Object.entries(GROUPS)) {
      const boxes = measures.filter((measure) => measure.group === group).map((measure) => {
        const box = element("input", { type: "checkbox", value: measure.name });
        return element("label", {}, box, element("b", { textContent: measure.name }), element("small", {
          textContent: `${measure.about} Range: ${measure.range}.`,
        }));
      });
      at("measures").append(element("fieldset", {}, element("legend", { textContent: title }),
        element("div", { className: "measures" }, ...boxes)));
    }
    at("measures").addEventListener("change", () => this.show());
  }

  named(name) { return this.all.find((measure) => measure.name === name); }

  get chosen() {
    return [...document.querySelectorAll("#measures input:checked")].map((box) => box.value);
  }

  /* Returns the names that there are none of. */
  choose(names, values = {}) {
    for (const box of document.querySelectorAll("#measures input")) box.checked = names.includes(box.value);
    this.values = { ...values };
    this.show();
    return names.filter((name) => !this.named(name));
  }

  show() {
    for (const id of ["chosen", "scored-by"]) at(id).textContent = this.chosen.join(", ") || "none";
    const settings = new Map();
    for (const name of this.chosen) {
      for (const setting of this.named(name).settings) {
        if (HIDDEN.includes(setting.name)) continue;
        if (!settings.has(setting.name)) settings.set(setting.name, { setting, of: [] });
        settings.get(setting.name).of.push(name);
      }
    }
    at("settings").replaceChildren(...[...settings.values()].map(({ setting, of }) => this.control(setting, of)));
    this.count();
  }

  count() {
    const given = Object.entries(this.settings).map(([name, value]) => `${name} ${value}`);
    at("settings-chosen").textContent = given.length ? given.join(", ") : "the usual ones";
  }

  control(setting, of) {
    const id = `set-${setting.name}`;
    const usual = `usual: ${setting.default}`;
    let field;
    if (setting.kind === "number") {
      field = element("input", { type: "number", step: "any", placeholder: setting.default });
      if (setting.low !== null) field.min = setting.low;
      if (setting.high !== null) field.max = setting.high;
    } else {
      const values = { "yes or no": ["yes", "no"], language: this.languages }[setting.kind] ?? setting.values;
      const label = (value) => (setting.kind === "language" ? languageName(value) : value);
      field = element("select", {}, new Option(usual, ""), ...values.map((value) => new Option(label(value), value)));
    }
    field.id = id;
    field.value = this.values[setting.name] ?? "";
    field.addEventListener("input", () => { this.values[setting.name] = field.value; this.count(); });
    const about = element("small", { id: `${id}-about`, textContent: `${setting.about} For ${of.join(", ")}.` });
    field.setAttribute("aria-describedby", about.id);
    return element("p", {}, element("label", { htmlFor: id, textContent: setting.name.replace(/_lang$/, "_language").replaceAll("_", " ") }), field, about);
  }

  /* What was chosen, as text, of the settings that the chosen measures have. */
  get settings() {
    const known = new Set(this.chosen.flatMap((name) => this.named(name).settings.map((setting) => setting.name)));
    return Object.fromEntries(Object.entries(this.values).filter(([name, value]) => value !== "" && known.has(name)));
  }

  /* The same as the API takes it. */
  get request() {
    const kinds = new Map(this.all.flatMap((measure) => measure.settings.map((each) => [each.name, each.kind])));
    return Object.fromEntries(Object.entries(this.settings).map(([name, value]) => {
      if (kinds.get(name) === "number") return [name, Number(value)];
      return [name, kinds.get(name) === "yes or no" ? value === "yes" : value];
    }));
  }

  /* Without languages, the measures that need them are left out; those that need a source without one. */
  usable(names, { languages, source = true, sourceLanguage = true }) {
    const reason = (name) => {
      const measure = this.named(name);
      if (measure?.compares_with === "source") {
        if (!source) return "needs a source";
        if (!sourceLanguage) return "needs the language of the source";
      }
      return !languages && measure?.needs_languages ? "needs both languages" : "";
    };
    const left = names.filter((name) => !reason(name));
    const missing = new Map();
    for (const name of names.filter(reason)) missing.set(reason(name), [...(missing.get(reason(name)) ?? []), name]);
    const notes = [...missing].map(([why, which]) => `${which.join(", ")} ${which.length > 1 ? why.replace("needs", "need") : why}`);
    return { left, note: notes.length ? `Left out: ${notes.join("; ")}.` : "" };
  }
}

const KINDS = ["unrelated", "near miss", "paraphrase", "identical"];
const WIDTH = 26; // of a label of a tick, in per cent of the bar
export const short = (value) => (Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2));

/* What pairs of known similarity score; near misses only where they score below paraphrases. */
function examples(scale) {
  const points = KINDS.filter((kind) => kind in scale).map((kind) => [kind, scale[kind]]);
  const rising = (list) => list.every(([, value], place) => !place || value > list[place - 1][1]);
  return [points, points.filter(([kind]) => kind !== "near miss"), points.filter(([kind]) => kind !== "near miss" && kind !== "paraphrase")]
    .find(rising) ?? [];
}

/* A bar from the lowest to the highest score, with a labelled tick for pairs of known similarity. */
export function bar(measure, score) {
  const scale = measure.scale ?? {};
  const points = examples(scale), values = points.map(([, value]) => value);
  if (measure.low === null && !points.length) return null;
  const low = measure.low ?? Math.min(score, ...values);
  const high = Math.max(measure.high ?? Math.max(score, ...values), score);
  const share = (value) => 100 * Math.min(1, Math.max(0, (value - low) / (high - low || 1)));
  const filled = element("span", { className: "filled" });
  filled.style.width = `${share(score)}%`;
  const ends = []; // of each line of labels
  const ticks = points.map(([kind, value]) => {
    const left = share(value), start = Math.min(100 - WIDTH, Math.max(0, left - WIDTH / 2));
    let line = ends.findIndex((end) => end <= start);
    if (line < 0) line = ends.length;
    ends[line] = start + WIDTH;
    const tick = element("span", { className: "tick" }), label = element("small", { textContent: `${kind} ${short(value)}` });
    tick.style.left = `${left}%`;
    label.style.left = `${start}%`;
    label.style.top = `${1.1 + line * 1.1}rem`;
    return [tick, label];
  });
  const described = points.map(([kind, value]) => `${kind} ${short(value)}`).join(", ");
  const track = element("span", {
    className: "track",
    aria: { role: "img", label: `${measure.name} ${short(score)}, on a scale from ${short(low)} to ${short(high)}${described ? `; for comparison: ${described}` : ""}` },
  }, filled, ...ticks.map(([tick]) => tick));
  const missing = KINDS.filter((kind) => kind in scale && !points.some(([shown]) => shown === kind));
  const made = element("div", { className: "bar" }, track, ...ticks.map(([, label]) => label));
  made.style.paddingBottom = `${0.3 + ends.length * 1.1}rem`;
  return element("div", {}, made, missing.length ? element("p", { className: "key", textContent: `${measure.name} does not tell ${missing.includes("paraphrase") ? "paraphrases" : "near misses"} from ${missing.includes("paraphrase") ? "others" : "paraphrases"} with this model.` }) : null);
}
