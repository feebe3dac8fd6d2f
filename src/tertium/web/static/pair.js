// Two texts: a card with the score of each measure, and an explanation below.

import { requestHtml, requestJson } from "./api.js";

const WORST = 20;
const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

async function copy(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed: copy it below";
  }
  setTimeout(() => { button.textContent = before; }, 2000);
}

function card(name, scores, measure, marks) {
  const button = element("button", { type: "button", textContent: "Copy signature" });
  button.setAttribute("aria-label", `Copy the signature of ${name}`);
  button.addEventListener("click", () => copy(scores.signature, button));
  const parts = [
    element("h2", {}, name, element("data", { value: scores.segments[0], textContent: scores.segments[0].toFixed(4) })),
  ];
  const meaningless = marks.includes("empty") || marks.includes("unknown");
  if (!meaningless && measure && measure.low !== null && measure.high !== null) {
    const meter = element("meter", { min: measure.low, max: measure.high, value: scores.segments[0] });
    meter.setAttribute("aria-label", `${name}, from ${measure.low} to ${measure.high.toFixed(3)}`);
    parts.push(meter);
  }
  parts.push(
    element("p", { textContent: scores.reading }),
    element("div", {}, button),
    element("details", {}, element("summary", { textContent: "Signature" }),
      element("span", { className: "signature", textContent: scores.signature })),
  );
  return element("li", {}, ...parts);
}

function partsFor(view, measures) {
  const named = (name) => measures.find((measure) => measure.name === name);
  const both = Boolean(view.la && view.lb);
  const parts = both ? ["tokens"] : [];
  if (both || !named("cross")?.needs_languages) parts.push("translations");
  parts.push("alignment");
  if (named("wmd")) parts.push("transport");
  return parts;
}

export async function scorePair(view, measures, signal) {
  const languages = { lang: view.la || null, reference_lang: view.lb || null };
  const texts = { hypothesis: view.a, reference: view.b };
  const named = (name) => measures.find((measure) => measure.name === name);
  const pair = { ...texts, ...(view.measures.includes("prism-src")
    ? { source: view.b, source_lang: view.lb || null } : {}) };
  const scoring = requestJson("/api/score", { pairs: [pair], measures: view.measures, ...languages }, signal);
  const explanation = requestHtml("/api/explain.html", {
    ...texts, ...languages, parts: partsFor(view, measures), worst: WORST,
  }, signal).catch((error) => error);
  const result = await scoring;
  document.getElementById("scores").replaceChildren(
    ...Object.entries(result.measures).map(([name, each]) => card(name, each, named(name), result.marks[0])),
  );
  document.getElementById("pair-result").hidden = false;
  const html = await explanation;
  const place = document.getElementById("explanation");
  if (html instanceof Error) {
    place.replaceChildren(element("p", { className: "key", textContent: html.message }));
    return result;
  }
  place.innerHTML = html; // rendered by the server, which escapes all texts
  if (!(view.la && view.lb)) {
    place.prepend(element("p", {
      className: "key",
      textContent: "Choose both languages to see how probable each token is.",
    }));
  }
  return result;
}
