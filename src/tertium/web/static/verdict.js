// Whether two texts mean the same: a sentence, a scale from an error to none, and both texts below it.

import { requestJson } from "./api.js";
import { element } from "./dom.js";
import { showSpans } from "./spans.js";

const METHODS = ["coverage", "opposites", "hallucination", "flags"];
const WITHOUT_LANGUAGES = ["flags"];
const SIGNS = { same: "=", unsure: "?", different: "≠", unknown: "–" };
const CHECKED = "omissions, additions, negations, opposites, numbers, units, dates, names, copies and unrelated texts";

/* What the server says about a pair; a model without a direction checks what needs no model. */
export async function review({ a, b, la, lb }, signal) {
  const ask = (methods) => requestJson("/api/spans", {
    hypothesis: a, reference: b, lang: la || null, reference_lang: lb || null, methods, matches: true,
  }, signal);
  if (!la || !lb) return ask(WITHOUT_LANGUAGES);
  try {
    return await ask(METHODS);
  } catch (error) {
    if (error.status !== 400) throw error;
    return ask(WITHOUT_LANGUAGES);
  }
}

/* From 0 to 100; hollow where something was not judged. */
function scale(score, level) {
  const marker = element("span", { className: `marker ${level === "unsure" ? "hollow" : ""}` });
  marker.style.insetInlineStart = `${score}%`;
  return element("div", { className: "scale" },
    element("div", { className: "ramp", aria: { role: "img", label: `Score ${Math.round(score)} on a scale from 0, an error, to 100, no error` } }, marker),
    element("div", { className: "ticks", aria: { hidden: "true" } },
      ...[["0", "an error"], ["25"], ["50", "even odds"], ["75"], ["100", "no error"]].map(([number, about]) => element("span", {},
        element("b", { textContent: number }), about ? element("small", { textContent: about }) : null))));
}

function sentence({ level, sentence: text, score }) {
  return element("div", { className: `judged ${level}`, data: { level } },
    element("p", { className: "sentence" },
      element("span", { className: "sign", textContent: SIGNS[level], aria: { hidden: "true" } }), element("span", { textContent: text })),
    score === null ? null : scale(score, level),
    element("p", { className: "key" },
      score === null ? "" : `Score ${Math.round(score)} of 100: the probability that nothing is wrong, if half of all such texts have an error. `,
      level === "unsure" && score >= 75 ? "The mark is hollow: what the sentence names was not judged." : "",
      level === "same" && score < 100 ? `Checked: ${CHECKED}. Roles that were swapped are not noticed.` : ""));
}

export function showVerdict(where, view, found) {
  const texts = element("div", { className: "texts" });
  where.replaceChildren(sentence(found.verdict), texts);
  if (found.verdict.level !== "unknown") showSpans(texts, view, found);
}
