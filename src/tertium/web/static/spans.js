// Two texts with the spans where they differ; each shows its evidence while it is pointed at or has the focus.

import { element } from "./dom.js";

const ORDER = ["omission", "addition", "difference", "unlikely"];
const NAMES = {
  omission: "omission: missing in the first text", addition: "addition: not in the second text",
  difference: "difference: no similar word on the other side", unlikely: "unlikely given the other text",
  number: "number: the numbers differ", unit: "unit: the units differ", date: "date: the dates differ",
  name: "name: not in the other text", untranslated: "untranslated: left in the language of the other text",
  placeholder: "placeholder: missing, added or changed", markup: "markup: missing, added or changed",
};

/* Cut a text where spans begin and end; offsets count code points. A span with others inside is one piece. */
export function pieces(text, spans) {
  const letters = Array.from(text);
  const cuts = [...new Set([0, letters.length, ...spans.flatMap((span) => [span.start, span.end])])].sort((a, b) => a - b);
  const found = [];
  cuts.slice(1).forEach((end, place) => {
    const start = cuts[place];
    const own = spans.filter((span) => span.start < end && start < span.end)
      .sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
    const last = found.at(-1);
    const part = letters.slice(start, end).join("");
    if (own.length && last?.spans[0] === own[0]) {
      last.text += part;
      last.spans = [...new Set([...last.spans, ...own])];
    } else found.push({ text: part, spans: own });
  });
  return found;
}

let count = 0;

function mark({ text, spans }) {
  const [worst] = spans;
  const tip = element("span", { className: "tip", id: `evidence-${count += 1}`, lang: "en", dir: "ltr", aria: { role: "tooltip" } },
    ...spans.map((span) => element("span", { textContent: `${span.severity} ${span.kind} (${span.score.toFixed(2)}): ${span.evidence}` })));
  const severity = ["critical", "major"].find((level) => spans.some((span) => span.severity === level)) ?? "minor";
  const shown = element("button", { type: "button", className: `mark ${worst.kind} ${severity}`, textContent: text });
  shown.setAttribute("aria-describedby", tip.id);
  return element("span", { className: "marked" }, shown, tip);
}

export function showSpans(place, { a, b, la, lb }, found) {
  const texts = [["First text", "a", a, la], ["Second text", "b", b, lb]].map(([title, side, text, lang]) => {
    const spans = found.spans.filter((span) => span.side === side);
    const marked = element("p", { dir: "auto", lang });
    marked.append(...pieces(text, spans).map((piece) => (piece.spans.length ? mark(piece) : piece.text)));
    return element("div", {}, element("h3", { textContent: title }), marked);
  });
  const kinds = [...new Set(found.spans.map((span) => span.kind))];
  const key = element("ul", { className: "kinds" }, ...kinds.map((kind) => element("li", {},
    element("span", { className: `sample mark ${kind}`, textContent: "abc", aria: { hidden: "true" } }), ` ${NAMES[kind] ?? kind}`)));
  const flags = found.flags.length ? element("p", { className: "caution", textContent: `Noticed: ${found.flags.join(", ").replaceAll("_", " ")}.` }) : null;
  const none = found.spans.length || found.flags.length ? null
    : element("p", { className: "key", textContent: "No difference was found." });
  place.replaceChildren(element("h2", { textContent: "Where they differ" }),
    ...[flags, none].filter(Boolean), element("div", { className: "sides spans" }, ...texts),
    ...(kinds.length ? [key, element("p", { className: "key", textContent: "Darker marks are major, those with a double line critical. Point at a mark, or move to it with Tab, to see the evidence." })] : []));
}
