// Two texts: a card for each measure, and below them what the scores are made of.

import { ask, askForHtml } from "./api.js";

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
    button.textContent = "Not allowed: see below";
  }
  setTimeout(() => { button.textContent = before; }, 2000);
}

function card(name, found, measure) {
  const button = element("button", { type: "button", textContent: "Copy signature" });
  button.setAttribute("aria-label", `Copy the signature of ${name}`);
  button.addEventListener("click", () => copy(found.signature, button));
  const parts = [
    element("h2", {}, name, element("data", { value: found.segments[0], textContent: found.segments[0].toFixed(4) })),
  ];
  if (measure && measure.low !== null && measure.high !== null) {
    const meter = element("meter", { min: measure.low, max: measure.high, value: found.segments[0] });
    meter.setAttribute("aria-label", `${name}, from ${measure.low} to ${measure.high.toFixed(3)}`);
    parts.push(meter);
  }
  parts.push(
    element("p", { textContent: found.reading }),
    element("div", {}, button),
    element("details", {}, element("summary", { textContent: "Signature" }),
      element("span", { className: "signature", textContent: found.signature })),
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
  const scores = ask("/api/score", { pairs: [pair], measures: view.measures, ...languages }, signal);
  const explanation = askForHtml("/api/explain.html", {
    ...texts, ...languages, parts: partsFor(view, measures), worst: WORST,
  }, signal).catch((error) => error);
  const found = await scores;
  document.getElementById("scores").replaceChildren(
    ...Object.entries(found.measures).map(([name, each]) => card(name, each, named(name))),
  );
  document.getElementById("pair-result").hidden = false;
  const why = await explanation;
  const place = document.getElementById("explanation");
  if (why instanceof Error) {
    place.replaceChildren(element("p", { className: "key", textContent: why.message }));
    return found;
  }
  place.innerHTML = why; // made by the server, which escapes all texts
  if (!(view.la && view.lb)) {
    place.prepend(element("p", {
      className: "key",
      textContent: "Say both languages to see how probable each token is.",
    }));
  }
  return found;
}
