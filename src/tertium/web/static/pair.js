// Two texts: a card with the score of each measure, the spans where they differ, and tokens on demand.

import { requestHtml, requestJson } from "./api.js";
import { at, button, copy, element } from "./dom.js";
import { bar, placed } from "./measures.js";
import { showSpans } from "./spans.js";

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
  const title = element("h3", {}, name, element("data", { value: score, textContent: score.toFixed(4) }));
  const readable = !meaningless && measure;
  return element("li", {}, title,
    readable ? bar(measure, score) : null,
    readable && placed(score, measure.scale ?? {}) ? element("p", { className: "placed", textContent: placed(score, measure.scale) }) : null,
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
  for (const id of ["scores", "spans", "tokens", "cautions"]) at(id).replaceChildren();
  delete at("pair-result").dataset.filled;
  at("pair-result").classList.remove("stale");
  at("pair-result").hidden = true;
}

export async function scorePair(view, measures, settings, signal, scored) {
  const languages = { lang: view.la || null, reference_lang: view.lb || null };
  const further = view.r.split("\n").map((line) => line.trim()).filter(Boolean);
  const source = view.s || view.b; // what is compared with a source takes the second text without one
  const pair = {
    hypothesis: view.a, reference: further.length ? [view.b, ...further] : view.b,
    source, source_lang: (view.s ? view.ls : view.lb) || null,
  };
  const scoring = requestJson("/api/score", { pairs: [pair], measures: view.measures, settings, ...languages }, signal);
  const spansBy = (methods) => requestJson("/api/spans", { hypothesis: view.a, reference: view.b, ...languages, methods }, signal)
    .catch((error) => error);
  const quick = spansBy(["differences", "flags"]);
  const thorough = view.la && view.lb ? spansBy(["coverage"]) : null; // takes long for long texts
  const result = await scoring;
  const marks = result.marks[0];
  const meaningless = marks.includes("empty") || marks.includes("unknown");
  at("cautions").replaceChildren(...marks.map((mark) => element("p", { className: "caution", textContent: CAUTIONS[mark] ?? mark })));
  at("scores").replaceChildren(...Object.entries(result.measures)
    .map(([name, each]) => card(name, each.segments[0], each, measures.named(name), meaningless)));
  at("spans").replaceChildren();
  tokensOnDemand(view, measures);
  at("pair-result").dataset.filled = "yes";
  at("pair-result").classList.remove("stale");
  at("pair-result").hidden = false;
  scored();
  const found = await quick;
  if (found.name === "AbortError") throw found;
  const note = (text) => at("spans").append(element("p", { className: "key", textContent: text }));
  if (found instanceof Error) return note(`Differences are not shown: ${found.message}`);
  showSpans(at("spans"), view, found);
  if (!thorough) return note("Choose both languages to see omissions and additions.");
  note("Looking for omissions and additions …");
  const more = await thorough;
  if (more.name === "AbortError") throw more;
  if (more instanceof Error) {
    at("spans").lastChild.textContent = `Omissions and additions are not shown: ${more.message}`;
  } else showSpans(at("spans"), view, { ...found, spans: [...found.spans, ...more.spans] });
}
