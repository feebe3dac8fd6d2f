// The page: choices, two ways to give texts, and a link that brings the view back.

import { ask } from "./api.js";
import { readLink, writeLink } from "./link.js";
import { scorePair } from "./pair.js";
import { Rows } from "./rows.js";

const USUAL = ["cross", "direct", "prism-ref", "bertscore", "chrf"];
const NEED_LANGUAGES = "needs both languages";
const at = (id) => document.getElementById(id);

let measures = [];
let limits = {};
let running = null;
let dropped = null;

const chosen = () =>
  [...document.querySelectorAll("#measures input:checked")].map((box) => box.value);

function tell(text, wrong = false) {
  at("status").textContent = text;
  at("status").classList.toggle("wrong", wrong);
}

function choose(names) {
  for (const box of document.querySelectorAll("#measures input")) {
    box.checked = names.includes(box.value);
  }
  showChosen();
}

const showChosen = () => { at("chosen").textContent = chosen().join(", ") || "none"; };

function select(name) {
  for (const each of ["pair", "file"]) {
    const tab = at(`tab-${each}`), here = each === name;
    tab.setAttribute("aria-selected", String(here));
    tab.tabIndex = here ? 0 : -1;
    at(`panel-${each}`).hidden = !here;
    at(`${each}-result`).hidden = !here || !at(`${each}-result`).dataset.filled;
  }
  at("link").hidden = name === "file";
}

const current = () => (at("panel-file").hidden ? "pair" : "file");

const view = () => ({
  a: at("hypothesis").value, b: at("reference").value,
  la: at("lang").value, lb: at("reference-lang").value, measures: chosen(),
});

/* Without languages, those measures that need them are left out rather than refused. */
function possible(asked, known) {
  const left = asked.filter((name) => known || !measures.find((m) => m.name === name)?.needs_languages);
  const missing = asked.filter((name) => !left.includes(name));
  return { left, note: missing.length ? ` (${missing.join(", ")}: ${NEED_LANGUAGES})` : "" };
}

async function run(work) {
  running?.abort();
  const mine = new AbortController();
  running = mine;
  at("stop").hidden = false;
  at("score").disabled = true;
  tell("Scoring …");
  try {
    tell(await work(mine.signal));
  } catch (error) {
    if (mine === running) tell(error.name === "AbortError" ? "Stopped." : error.message, error.name !== "AbortError");
  } finally {
    if (mine === running) {
      at("stop").hidden = true;
      at("score").disabled = false;
    }
  }
}

function score() {
  const asked = view();
  if (!asked.measures.length) return tell("Choose a measure.", true);
  if (current() === "file") {
    const file = dropped ?? at("file").files[0];
    if (!file) return tell("Drop or choose a file first.", true);
    return run(async (signal) => {
      at("file-result").dataset.filled = "yes";
      await rows.score(file, asked, limits, signal);
      const faults = rows.rows.filter((row) => row.fault).length;
      return `${rows.rows.length} rows scored${faults ? `, ${faults} of them refused` : ""}.`;
    });
  }
  writeLink(asked);
  return run(async (signal) => {
    const { left, note } = possible(asked.measures, asked.la && asked.lb);
    if (!left.length) throw new Error(`Say both languages${note}.`);
    const found = await scorePair({ ...asked, measures: left }, measures, signal);
    at("pair-result").dataset.filled = "yes";
    const cut = found.cut[0] ? " A text was too long: only its beginning counts." : "";
    return `Scored by ${left.join(", ")}${note}.${cut}`;
  });
}

function fill({ a, b, la, lb }) {
  at("hypothesis").value = a ?? "";
  at("reference").value = b ?? "";
  at("lang").value = la ?? "";
  at("reference-lang").value = lb ?? "";
}

const rows = new Rows((pair) => {
  fill(pair);
  select("pair");
  score();
  at("hypothesis").focus();
});

function follow() {
  const linked = readLink();
  if (!linked) return;
  fill(linked);
  choose(linked.measures.length ? linked.measures : USUAL);
  select("pair");
  score();
}

async function start() {
  const [{ models }, known] = await Promise.all([ask("/api/models"), ask("/api/measures")]);
  ({ measures, limits } = known);
  const translation = models.find((model) => model.role === "translation");
  const name = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });
  const languages = [...new Set([...translation.source_languages, ...translation.target_languages])];
  for (const code of languages) {
    let told = code;
    try { told = name.of(code) ?? code; } catch { /* a code of the model's own */ }
    for (const id of ["lang", "reference-lang"]) at(id).append(new Option(told, code));
  }
  at("model").textContent = `Model: ${translation.name}.`;
  for (const measure of measures) {
    const label = document.createElement("label");
    const box = Object.assign(document.createElement("input"), { type: "checkbox", value: measure.name });
    const about = document.createElement("small");
    about.textContent = measure.about;
    label.append(box, measure.name, about);
    at("measures").append(label);
  }
  choose(USUAL);
  at("score").disabled = false;
  follow();
}

at("form").addEventListener("submit", (event) => { event.preventDefault(); score(); });
at("form").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) score();
});
at("stop").addEventListener("click", () => running?.abort());
at("measures").addEventListener("change", showChosen);
at("lang").addEventListener("change", () => {
  if (!at("reference-lang").value) at("reference-lang").value = at("lang").value;
});
at("link").addEventListener("click", async () => {
  writeLink(view());
  try {
    await navigator.clipboard.writeText(location.href);
    tell("The link is copied. It holds the texts.");
  } catch {
    tell("The link is in the address bar. It holds the texts.");
  }
});
for (const name of ["pair", "file"]) {
  at(`tab-${name}`).addEventListener("click", () => select(name));
  at(`tab-${name}`).addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const other = name === "pair" ? "file" : "pair";
    select(other);
    at(`tab-${other}`).focus();
  });
}
at("file").addEventListener("change", () => { dropped = null; if (at("file").files.length) score(); });
for (const kind of ["dragenter", "dragover"]) {
  addEventListener(kind, (event) => { event.preventDefault(); at("drop").classList.add("over"); });
}
for (const kind of ["dragleave", "drop"]) {
  addEventListener(kind, () => at("drop").classList.remove("over"));
}
addEventListener("drop", (event) => {
  event.preventDefault();
  if (!event.dataTransfer?.files.length) return;
  [dropped] = event.dataTransfer.files;
  select("file");
  score();
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && document.activeElement?.matches(".token")) document.activeElement.blur();
});
addEventListener("hashchange", follow);
start().catch((error) => tell(error.message, true));
