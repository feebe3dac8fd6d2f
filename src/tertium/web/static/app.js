// The page: choice of measures, two texts or a file, and a link that restores the view.

import { requestJson } from "./api.js";
import { readLink, writeLink } from "./link.js";
import { scorePair } from "./pair.js";
import { Rows } from "./rows.js";

const DEFAULT_MEASURES = ["cross", "direct", "prism-ref", "bertscore", "chrf"];
const NEED_LANGUAGES = "needs both languages";
const CAUTIONS = {
  cut: "A text was too long: only its beginning was scored.",
  split: "A text was too long for the model: its sentences were aligned and scored in parts.",
  empty: "A text is empty.",
  unknown: "A text is in a language or script that the model was not trained on: the scores say nothing.",
  language: "The first text is in another language than given.",
  copy: "The first text is an untranslated copy of the second.",
};
const at = (id) => document.getElementById(id);

let measures = [];
let limits = {};
let running = null;
let dropped = null;

const chosen = () =>
  [...document.querySelectorAll("#measures input:checked")].map((box) => box.value);

function showStatus(text, isError = false) {
  at("status").textContent = text;
  at("status").classList.toggle("error", isError);
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

const selected = () => (at("panel-file").hidden ? "pair" : "file");

const view = () => ({
  a: at("hypothesis").value, b: at("reference").value,
  la: at("lang").value, lb: at("reference-lang").value, measures: chosen(),
});

/* Without languages, the measures that need them are left out. */
function usable(names, hasLanguages) {
  const left = names.filter((name) => hasLanguages || !measures.find((m) => m.name === name)?.needs_languages);
  const missing = names.filter((name) => !left.includes(name));
  return { left, note: missing.length ? ` (${missing.join(", ")}: ${NEED_LANGUAGES})` : "" };
}

async function run(work) {
  running?.abort();
  const controller = new AbortController();
  running = controller;
  at("stop").hidden = false;
  at("score").disabled = true;
  showStatus("Scoring …");
  try {
    showStatus(await work(controller.signal));
  } catch (error) {
    if (controller === running) showStatus(error.name === "AbortError" ? "Stopped." : error.message, error.name !== "AbortError");
  } finally {
    if (controller === running) {
      at("stop").hidden = true;
      at("score").disabled = false;
    }
  }
}

function score() {
  const current = view();
  if (!current.measures.length) return showStatus("Choose a measure.", true);
  if (selected() === "file") {
    const file = dropped ?? at("file").files[0];
    if (!file) return showStatus("Drop or choose a file first.", true);
    return run(async (signal) => {
      at("file-result").dataset.filled = "yes";
      await rows.score(file, current, limits, signal);
      const errors = rows.rows.filter((row) => row.error).length;
      return `${rows.rows.length} ${rows.rows.length === 1 ? "row" : "rows"} scored${errors ? `, ${errors} of them refused` : ""}.`;
    });
  }
  writeLink(current);
  return run(async (signal) => {
    const { left, note } = usable(current.measures, current.la && current.lb);
    if (!left.length) throw new Error(`Choose both languages${note}.`);
    const result = await scorePair({ ...current, measures: left }, measures, signal);
    at("pair-result").dataset.filled = "yes";
    const cautions = result.marks[0].map((mark) => ` ${CAUTIONS[mark] ?? mark}`).join("");
    return `Scored by ${left.join(", ")}${note}.${cautions}`;
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
  choose(linked.measures.length ? linked.measures : DEFAULT_MEASURES);
  select("pair");
  score();
}

async function start() {
  const [{ models }, available] = await Promise.all([
    requestJson("/api/models"), requestJson("/api/measures"),
  ]);
  ({ measures, limits } = available);
  const translation = models.find((model) => model.role === "translation");
  const name = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });
  const languages = [...new Set([...translation.source_languages, ...translation.target_languages])];
  for (const code of languages) {
    let label = code;
    try { label = name.of(code) ?? code; } catch { /* not an ISO code */ }
    for (const id of ["lang", "reference-lang"]) at(id).append(new Option(label, code));
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
  choose(DEFAULT_MEASURES);
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
    showStatus("The link is copied. It contains the texts.");
  } catch {
    showStatus("The link is in the address bar. It contains the texts.");
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
start().catch((error) => showStatus(error.message, true));
