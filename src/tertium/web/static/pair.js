// Two texts: the verdict while typing, the measures when their fold is open, and tokens on demand.

import { requestHtml, requestJson } from "./api.js";
import { at, button, copy, element } from "./dom.js";
import { bar } from "./measures.js";
import { review, showVerdict } from "./verdict.js";

const WORST = 20;
export const CAUTIONS = {
  cut: "A text is too long for the model: only its beginning was scored.",
  split: "A text is too long for the model: its sentences were aligned and scored in parts.",
  empty: "A text is empty.",
  unknown: "A text is in a language or script that the model was not trained on: the scores say nothing.",
  language: "The first text is in another language than given.",
  copy: "The first text is an untranslated copy of the source.",
};

export function card(name, score, scores, measure, meaningless) {
  const title = element("h3", {}, name, element("data", { value: score, textContent: score.toFixed(2) }));
  return element("li", {}, title,
    meaningless || !measure ? null : bar(measure, score),
    element("p", { textContent: meaningless ? "This number says nothing about the texts." : scores.reading }),
    element("details", {}, element("summary", { textContent: "Signature", aria: { label: `Signature of ${name}` } }),
      element("p", { className: "signature", textContent: scores.signature }),
      button("Copy", (self) => copy(scores.signature, self), { ariaLabel: `Copy the signature of ${name}` })));
}

function partsFor(view, measures) {
  const both = Boolean(view.la && view.lb);
  const parts = both ? ["tokens"] : [];
  if (both || !measures.named("cross")?.needs_languages) parts.push("translations");
  parts.push("alignment");
  if (measures.named("wmd")) parts.push("transport");
  return parts;
}

function tokensOnDemand(view, measures) {
  const place = at("tokens");
  place.replaceChildren(button("Show tokens, translations and alignment", async (self) => {
    self.disabled = true;
    self.textContent = "Computing …";
    try {
      const html = await requestHtml("/api/explain.html", {
        hypothesis: view.a, reference: view.b, lang: view.la || null, reference_lang: view.lb || null,
        parts: partsFor(view, measures), worst: WORST,
      });
      place.innerHTML = html; // rendered by the server, which escapes all texts
      if (!(view.la && view.lb)) {
        place.prepend(element("p", { className: "key", textContent: "Choose both languages to see how probable each token is." }));
      }
      place.tabIndex = -1;
      place.focus();
    } catch (error) {
      place.replaceChildren(element("p", { className: "key", textContent: error.message }));
    }
  }));
}

export function clearPair() {
  for (const id of ["verdict", "scores", "tokens", "cautions"]) at(id).replaceChildren();
  delete at("pair-result").dataset.filled;
  at("pair-result").hidden = true;
}

export async function comparePair(view, measures, signal) {
  const found = await review(view, signal);
  showVerdict(at("verdict"), view, found);
  at("scores").replaceChildren();
  at("cautions").replaceChildren();
  tokensOnDemand(view, measures);
  at("pair-result").dataset.filled = "yes";
  at("pair-result").hidden = false;
}

export async function scorePair(view, settings, measures, signal) {
  const further = view.r.split("\n").map((line) => line.trim()).filter(Boolean);
  const pair = {
    hypothesis: view.a, reference: further.length ? [view.b, ...further] : view.b,
    source: view.s || view.b, // what is compared with a source takes the second text without one
    source_lang: (view.s ? view.ls : view.lb) || null,
  };
  const result = await requestJson("/api/score", {
    pairs: [pair], measures: view.measures, settings, lang: view.la || null, reference_lang: view.lb || null,
  }, signal);
  const marks = result.marks[0];
  const meaningless = marks.includes("empty") || marks.includes("unknown");
  at("cautions").replaceChildren(...marks.map((mark) => element("p", { className: "caution", textContent: CAUTIONS[mark] ?? mark })));
  at("scores").replaceChildren(...Object.entries(result.measures)
    .map(([name, each]) => card(name, each.segments[0], each, measures.named(name), meaningless)));
}
