// The page: two texts, many pairs or systems; choice of measures; a link and a history of the views.

import { requestJson } from "./api.js";
import { at, button, counted, showStatus } from "./dom.js";
import { EXAMPLES, PAIRS, SYSTEMS } from "./examples.js";
import { Detector, LanguageChoice, languageName } from "./languages.js";
import { linkOf, readLink } from "./link.js";
import { DEFAULT_MEASURES, Measures } from "./measures.js";
import { clearPair, comparePair, scorePair } from "./pair.js";
import { openFile, Rows } from "./rows.js";
import { Systems } from "./systems.js";

const TABS = ["pair", "file", "systems"];
const TYPING_PAUSE = 250; // milliseconds after the last key
const WAITING = 400; // milliseconds after which the page says that it is working
const NO_MEASURE = "Choose a measure.";

let measures, languages, detector, rows, systems;
let running = null, stopped = false;
let shownLink = null;
let typing; // the timer after the last key

function select(name) {
  clearTimeout(typing);
  for (const each of TABS) {
    const tab = at(`tab-${each}`), here = each === name;
    tab.setAttribute("aria-selected", String(here));
    tab.tabIndex = here ? 0 : -1;
    at(`panel-${each}`).hidden = !here;
    at(`${each}-result`).hidden = !here || !at(`${each}-result`).dataset.filled;
  }
  at("link").hidden = at("more-texts").hidden = name !== "pair";
  label();
}

const selected = () => TABS.find((name) => !at(`panel-${name}`).hidden);

function label() {
  at("score").textContent = {
    pair: "Compare", file: rows?.reading ? `Score ${counted(rows.reading.rows, "pair")}` : "Score", systems: "Compare",
  }[selected()];
}

/* Every view has an entry in the history, so that Back returns to it. */
function visit(address) {
  if (location.hash !== address) history.pushState(null, "", address);
}

const view = () => ({
  a: at("hypothesis").value, b: at("reference").value, s: at("source").value, r: at("further").value,
  la: languages.lang.value, lb: languages.reference_lang.value, ls: languages.source_lang.value,
  measures: measures.chosen, settings: measures.settings,
});

async function run(work) {
  running?.abort();
  const controller = new AbortController();
  running = controller;
  stopped = false;
  const waiting = setTimeout(() => {
    at("stop").hidden = false;
    showStatus("Working …");
  }, WAITING);
  try {
    const message = await work(controller.signal);
    if (controller === running) showStatus(message);
  } catch (error) {
    const aborted = error.name === "AbortError";
    const message = aborted ? "" : error.message;
    if (controller === running) showStatus(stopped ? "Stopped." : message, !aborted);
  } finally {
    clearTimeout(waiting);
    if (controller === running) at("stop").hidden = true;
  }
}

function score() {
  if (!measures.chosen.length && selected() !== "pair") return showStatus(NO_MEASURE, true);
  return { pair: comparePressed, file: scoreFile, systems: compareSystems }[selected()]();
}

/* A button or a link asked for it: there is an entry in the history, and the result is scrolled to. */
async function comparePressed() {
  if (!filled()) {
    clearPair();
    return showStatus("Type two texts, or choose an example.", true);
  }
  await compareTexts();
  shownLink = linkOf(view());
  visit(shownLink);
  const { top, bottom } = at("verdict").getBoundingClientRect();
  if (!at("pair-result").hidden && (bottom > innerHeight || top < 0)) at("pair-result").scrollIntoView({ behavior: "smooth" });
}

const filled = () => Boolean(at("hypothesis").value.trim() && at("reference").value.trim());

/* What was shown before stays until the new result is there, or an error. */
function compareTexts() {
  clearTimeout(typing);
  return run(async (signal) => {
    await detector.now();
    const started = performance.now();
    try {
      await comparePair(view(), measures, signal);
    } catch (error) {
      if (error.name !== "AbortError") clearPair();
      throw error;
    }
    const message = `Compared in ${Math.round(performance.now() - started)} ms.`;
    return at("scored").open ? `${message} ${await scoreTexts(signal)}` : message;
  });
}

async function scoreTexts(signal) {
  const current = view();
  const { left, note } = measures.usable(current.measures, { languages: current.la && current.lb, sourceLanguage: current.s ? current.ls : current.lb });
  if (!left.length) throw new Error(note || NO_MEASURE);
  await scorePair({ ...current, measures: left }, measures.request, measures, signal);
  return `Scored by ${left.join(", ")}. ${note}`;
}

function compareLater() {
  clearTimeout(typing);
  running?.abort();
  if (!filled()) return clearPair();
  typing = setTimeout(compareTexts, TYPING_PAUSE);
}

function scoreFile() {
  if (!rows.reading) return showStatus("Drop or choose a file, or paste rows, first.", true);
  rows.clear();
  return run(async (signal) => {
    const { summary, note } = await rows.score(measures.chosen, measures.request, signal);
    const refused = summary.not_scored ? `, ${summary.not_scored} of them refused` : "";
    return `${counted(summary.rows, "row")} scored${refused}. ${note}`;
  });
}

function compareSystems() {
  systems.clear();
  return run(async (signal) => {
    const note = await systems.compare(measures.chosen, measures.request, signal, (done, of) => {
      showStatus(`${done} of ${of} segments scored …`);
    });
    return `The comparison is done. ${note}`;
  });
}

const openContent = (open) => {
  select("file");
  visit("#file");
  return run(async (signal) => {
    await open(signal);
    label();
    return "This is how the rows were read. Score them below.";
  });
};

function fill({ a = "", b = "", la = "", lb = "", s = "", ls = "", r = "" }) {
  for (const [id, text] of [["hypothesis", a], ["reference", b], ["source", s], ["further", r]]) at(id).value = text;
  at("more-texts").open = Boolean(s || r);
  const unknown = [[languages.lang, la], [languages.reference_lang, lb], [languages.source_lang, ls]]
    .filter(([choice, code]) => !choice.choose(code)).map(([, code]) => code);
  lines();
  return unknown;
}

/* An example has its languages until something else is typed. */
function showExample(example) {
  fill(example);
  for (const [id, choice] of [["hypothesis", languages.lang], ["reference", languages.reference_lang]]) {
    at(id).addEventListener("input", () => choice.choose(""), { once: true });
  }
}

/* Show what the address says: a tab, or two texts. */
function restore() {
  const linked = readLink();
  if (!linked) {
    select(TABS.includes(location.hash.slice(1)) ? location.hash.slice(1) : "pair");
    return;
  }
  select("pair");
  if (location.hash === shownLink && at("pair-result").dataset.filled) return;
  const langs = fill(linked);
  const names = measures.choose(linked.measures.length ? linked.measures : DEFAULT_MEASURES, linked.settings);
  if (!measures.chosen.length) measures.choose(DEFAULT_MEASURES);
  const notes = [
    ...(langs.length ? [`The link names a language that the model does not have: ${langs.join(", ")}.`] : []),
    ...(names.length ? [`The link names an unknown measure: ${names.join(", ")}.`] : []),
  ];
  if (!linked.a && !linked.b) return;
  Promise.resolve(score()).then(() => { if (notes.length) showStatus(`${notes.join(" ")} ${at("status").textContent}`); });
}

/* As many lines on both sides may be meant as so many pairs. */
function lines() {
  const [a, b] = ["hypothesis", "reference"].map((id) => at(id).value.trim().split("\n"));
  at("as-lines").hidden = a.length < 2 || a.length !== b.length;
  at("as-lines").textContent = `Score line by line: ${a.length} pairs`;
}

function stale() {
  for (const id of ["file-result", "systems-result"]) {
    if (at(id).dataset.filled && !at(id).hidden) at(id).classList.add("stale");
  }
  if (document.querySelector(".stale:not([hidden])")) showStatus("Something has changed: what is shown is out of date.");
}

function changed(event) {
  if (selected() !== "pair") stale();
  else if (at("panel-pair").contains(event.target) || at("more-texts").contains(event.target)) compareLater();
  else if (at("scored").open) compareLater();
  else at("scores").replaceChildren(); // they are computed anew when the fold is opened
}

async function start() {
  const [{ models }, available] = await Promise.all([requestJson("/api/models"), requestJson("/api/measures")]);
  const translation = models.find((model) => model.role === "translation");
  const codes = [...new Set([...translation.source_languages, ...translation.target_languages])].sort((a, b) => languageName(a).localeCompare(languageName(b)));
  languages = {
    lang: new LanguageChoice(at("lang"), codes), reference_lang: new LanguageChoice(at("reference-lang"), codes),
    source_lang: new LanguageChoice(at("source-lang"), codes),
  };
  detector = new Detector([[at("hypothesis"), languages.lang], [at("reference"), languages.reference_lang], [at("source"), languages.source_lang]]);
  measures = new Measures(available.measures, codes);
  rows = new Rows(measures, codes, (pair) => { fill(pair); select("pair"); score(); at("hypothesis").focus(); });
  systems = new Systems(measures, codes);
  const known = codes.length > 12 ? `${codes.length} languages` : codes.map(languageName).join(", ");
  at("model").textContent = `Model: ${translation.name}, for ${known}. ${translation.note}`;
  for (const [name, example] of Object.entries(EXAMPLES)) {
    const usable = [example.la, example.lb].every((code) => codes.includes(code));
    if (usable) at("examples").append(button(name, () => { showExample(example); return score(); }));
  }
  at("examples").hidden = at("examples").children.length < 2;
  measures.choose(DEFAULT_MEASURES);
  at("score").disabled = false;
  showStatus("");
  restore();
  if (!location.hash && !filled() && at("examples").children.length > 1) {
    showExample(Object.values(EXAMPLES)[0]); // so that a visitor sees at once what this is
    compareTexts();
  }
  addEventListener("popstate", restore);
}

at("form").addEventListener("submit", (event) => { event.preventDefault(); score(); });
at("form").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); score(); }
});
at("form").addEventListener("input", changed);
for (const id of ["hypothesis", "reference"]) at(id).addEventListener("input", lines);
at("scored").addEventListener("toggle", () => { if (at("scored").open && !at("scores").children.length && filled()) run(scoreTexts); });
at("stop").addEventListener("click", () => {
  stopped = true;
  running?.abort();
});
at("link").addEventListener("click", async () => {
  visit(linkOf(view()));
  try {
    await navigator.clipboard.writeText(location.href);
    showStatus("The link is copied. It contains the texts.");
  } catch {
    showStatus("The link is in the address bar. It contains the texts.");
  }
});
at("as-lines").addEventListener("click", () => {
  const [a, b] = ["hypothesis", "reference"].map((id) => at(id).value.trim().split("\n"));
  const text = a.map((line, place) => `${JSON.stringify({ hyp: line, ref: b[place] })}\n`).join("");
  openContent((signal) => rows.open({ name: "lines.jsonl", text }, signal));
});
TABS.forEach((name, place) => {
  at(`tab-${name}`).addEventListener("click", () => { select(name); visit(`#${name}`); });
  at(`tab-${name}`).addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const other = TABS[(place + step + TABS.length) % TABS.length];
    select(other);
    at(`tab-${other}`).focus();
  });
});
at("file").addEventListener("change", () => {
  const [file] = at("file").files;
  if (!file) return;
  at("paste").value = "";
  openContent((signal) => openFile(rows, file, signal));
});
at("file-example").addEventListener("click", async () => {
  at("paste").value = PAIRS;
  at("file").value = "";
  await openContent((signal) => rows.open({ name: "example.tsv", text: PAIRS }, signal));
  if (rows.reading) score();
});
at("systems-example").addEventListener("click", async () => {
  systems.fill(SYSTEMS);
  await systems.detector.now();
  score();
});
at("several-files").addEventListener("change", () => {
  const files = [...at("several-files").files];
  if (files.length) showStatus(systems.put(files));
  at("several-files").value = "";
});
let pasting;
at("paste").addEventListener("input", () => {
  clearTimeout(pasting);
  pasting = setTimeout(() => {
    const text = at("paste").value;
    if (text.trim()) openContent((signal) => rows.open({ name: "pasted rows", text }, signal));
  }, 500);
});
for (const id of ["header", "quoting", "replace-invalid", "hyp-column", "ref-column", "src-column"]) {
  at(id).addEventListener("change", () => openContent((signal) => rows.preview(signal)));
}
const zones = [...document.querySelectorAll(".drop")];
for (const kind of ["dragenter", "dragover"]) {
  addEventListener(kind, (event) => { event.preventDefault(); for (const zone of zones) zone.classList.add("over"); });
}
for (const kind of ["dragleave", "drop"]) {
  addEventListener(kind, () => { for (const zone of zones) zone.classList.remove("over"); });
}
addEventListener("drop", (event) => {
  event.preventDefault();
  const files = [...event.dataTransfer?.files ?? []], [file] = files;
  if (!file) return;
  if (selected() === "systems" || files.length > 1) {
    select("systems");
    showStatus(systems.put(files));
    return;
  }
  at("paste").value = "";
  at("file").value = "";
  openContent((signal) => openFile(rows, file, signal));
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && document.activeElement?.matches(".token, .mark")) document.activeElement.blur();
});
start().catch((error) => showStatus(error.message, true));
