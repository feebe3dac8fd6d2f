// Two texts: phrases that match are connected, and what disagrees says why while it is pointed at or has the focus.

import { element } from "./dom.js";

const SEVERITIES = ["critical", "major", "minor"];
const LINES = { omission: "missing", addition: "missing", opposite: "opposed", negation: "opposed", change: "doubtful", unlikely: "doubtful", difference: "doubtful", apart: "doubtful" };
const LEGEND = {
  missing: "only in one text", opposed: "opposite or negated", doubtful: "no close counterpart", differs: "differs",
};
const LONG = 180; // characters from which the texts stand side by side
const CROWDED = 2; // lines of a text from which only some connections are drawn
const SVG = "http://www.w3.org/2000/svg";

/* Cut a text where spans and matches begin and end; offsets count code points. */
export function pieces(text, spans, matches) {
  const letters = Array.from(text);
  const ends = [...spans, ...matches].flatMap(({ start, end }) => [start, end]);
  const cuts = [...new Set([0, letters.length, ...ends])].sort((a, b) => a - b);
  const found = [];
  cuts.slice(1).forEach((end, place) => {
    const start = cuts[place];
    const covers = (each) => each.start < end && start < each.end;
    const here = spans.filter(covers).sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
    const match = matches.find(covers)?.number;
    const last = found.at(-1);
    const part = letters.slice(start, end).join("");
    if (here.length && last?.spans[0] === here[0]) {
      last.text += part;
      last.spans = [...new Set([...last.spans, ...here])];
    } else found.push({ text: part, spans: here, match });
  });
  return found;
}

/* Keep a tip on the screen: below its mark if there is room, otherwise above it. */
function place(marked) {
  const tip = marked.querySelector(".tip");
  tip.style.cssText = "";
  const { left, right, bottom, height } = tip.getBoundingClientRect();
  const shift = Math.max(8 - left, Math.min(0, document.documentElement.clientWidth - 8 - right));
  if (shift) tip.style.translate = `${shift}px 0`;
  if (bottom > innerHeight && marked.getBoundingClientRect().top > height) tip.style.inset = "auto auto 100% 0";
}

let count = 0;

function mark({ text, spans }) {
  const tip = element("span", { className: "tip", id: `evidence-${count += 1}`, lang: "en", dir: "ltr", aria: { role: "tooltip" } },
    ...spans.map((span) => element("span", { textContent: `${span.reason[0].toUpperCase()}${span.reason.slice(1)}.` })));
  const line = LINES[spans[0].kind] ?? "differs";
  const shown = element("button", { type: "button", className: `mark ${spans[0].kind} ${line}`, textContent: text });
  shown.setAttribute("aria-describedby", tip.id);
  const marked = element("span", { className: "marked" }, shown, tip);
  for (const kind of ["pointerenter", "focusin"]) marked.addEventListener(kind, () => place(marked));
  return marked;
}

/* A band, or in columns a line, from a phrase to its match. */
function band(svg, box, [from, to], match, columns) {
  const [a, b] = [from, to].map((node) => {
    const rects = [...node.getClientRects()].sort((one, other) => other.width - one.width);
    const { left, right, top, bottom } = rects[0];
    return { left: left - box.left, right: right - box.left, top: top - box.top, bottom: bottom - box.top };
  });
  const path = document.createElementNS(SVG, "path");
  if (columns) {
    const [y, z] = [(a.top + a.bottom) / 2, (b.top + b.bottom) / 2], x = (a.right + b.left) / 2;
    path.setAttribute("d", `M${a.right},${y} C${x},${y} ${x},${z} ${b.left},${z}`);
  } else {
    const y = (a.bottom + b.top) / 2;
    path.setAttribute("d", `M${a.left},${a.bottom} C${a.left},${y} ${b.left},${y} ${b.left},${b.top} H${b.right} C${b.right},${y} ${a.right},${y} ${a.right},${a.bottom} Z`);
  }
  path.setAttribute("class", `band ${match.differs ? "differs" : "same"} ${columns ? "line" : ""}`);
  path.dataset.match = match.number;
  svg.append(path);
}

const linesOf = (node) => new Set([...node.getClientRects()].map(({ top }) => Math.round(top / 8))).size;

function draw(area, matches) {
  if (!area.isConnected) return;
  const svg = area.querySelector("svg");
  const box = area.getBoundingClientRect();
  const columns = getComputedStyle(area).gridTemplateColumns.split(" ").length > 1;
  const crowded = columns || [...area.querySelectorAll(".linked")].some((text) => linesOf(text) > CROWDED);
  svg.replaceChildren();
  svg.classList.toggle("crowded", crowded);
  for (const match of matches) {
    const ends = ["a", "b"].map((side) => area.querySelector(`.side-${side} [data-match="${match.number}"]`));
    if (ends.every((end) => end?.getClientRects().length)) band(svg, box, ends, match, columns);
  }
}

/* Point at one phrase to see which one of the other text it matches. */
function follow(area) {
  const light = (event) => {
    const number = event.target.closest?.("[data-match]")?.dataset.match;
    for (const each of area.querySelectorAll("[data-match]")) each.classList.toggle("active", each.dataset.match === number);
  };
  for (const kind of ["pointerover", "focusin"]) area.addEventListener(kind, light);
  area.addEventListener("pointerleave", () => light({ target: document }));
  area.addEventListener("focusout", () => light({ target: document }));
}

const observers = new WeakMap();

export function showSpans(where, { a, b, la, lb }, found) {
  const doubtful = found.verdict?.level === "unsure"
    ? (found.apart ?? []).map((word) => ({ ...word, kind: "apart", severity: "minor", reason: `“${word.text}” has no close counterpart in the other text` })) : [];
  const spans = [...found.spans, ...doubtful];
  const matches = (found.matches ?? []).map((match, number) => ({ ...match, number }));
  const texts = [["First text", "a", a, la], ["Second text", "b", b, lb]].map(([title, side, text, lang]) => {
    const linked = element("span", { className: "linked" });
    const phrases = matches.map((match) => ({ start: match[side][0], end: match[side][1], number: match.number }));
    for (const piece of pieces(text, spans.filter((span) => span.side === side), phrases)) {
      const made = piece.spans.length ? mark(piece) : piece.match === undefined ? piece.text
        : element("span", { className: "phrase", textContent: piece.text });
      if (piece.match !== undefined) made.dataset.match = piece.match;
      linked.append(made);
    }
    return element("div", { className: `side-${side}` }, element("h3", { textContent: title }), element("p", { dir: "auto", lang }, linked));
  });
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("aria-hidden", "true");
  const area = element("div", { className: `spans ${Math.max(a.length, b.length) > LONG ? "long" : ""}` }, ...texts, svg);
  const drawn = new Set(spans.map((span) => LINES[span.kind] ?? "differs"));
  const key = element("ul", { className: "kinds" },
    ...(matches.some((match) => !match.differs) ? [element("li", {}, element("span", { className: "phrase sample", textContent: "abc", aria: { hidden: "true" } }), " matches")] : []),
    ...Object.keys(LEGEND).filter((line) => drawn.has(line)).map((line) => element("li", {},
      element("span", { className: `mark sample ${line}`, textContent: "abc", aria: { hidden: "true" } }), ` ${LEGEND[line]}`)));
  where.replaceChildren(area, ...(key.children.length ? [key] : []));
  follow(area);
  observers.get(where)?.disconnect();
  const observer = new ResizeObserver(() => draw(area, matches));
  observer.observe(area);
  observers.set(where, observer);
}
