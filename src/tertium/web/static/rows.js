// Many pairs, from a file or pasted: a preview of how they are read, then the rows as they are scored.

import { fileContent, requestJson, requestLines } from "./api.js";
import { at, button, counted, download, element } from "./dom.js";
import { LanguageChoice, languageName } from "./languages.js";
import { card, CAUTIONS } from "./pair.js";
import { review, showVerdict } from "./verdict.js";

const SHOWN = 100;
const BINS = 24;
const EVERY = 300; // milliseconds between two looks at the table while rows come in
const SHADES = 5;
const KEYS = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };
const FORMULA = /^[=+\-@\t\r]/; // what a spreadsheet would compute

const plain = (value) => {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = (typeof value === "object" ? JSON.stringify(value) : String(value)).replace(/[\t\r\n]/g, " ");
  return FORMULA.test(text) ? `'${text}` : text;
};

export class Rows {
  constructor(measures, languages, explain) {
    this.measures = measures;
    this.explain = explain;
    this.file = null;
    this.reading = null;
    this.clear();
    this.languages = {
      lang: new LanguageChoice(at("file-lang"), languages),
      reference_lang: new LanguageChoice(at("file-reference-lang"), languages),
      source_lang: new LanguageChoice(at("file-source-lang"), languages),
    };
    for (const id of ["filter", "filter-measure", "filter-low", "filter-high"]) {
      at(id).addEventListener("input", () => this.show());
    }
    at("more").addEventListener("click", () => { this.shown += SHOWN; this.show(); });
    at("save").addEventListener("click", () => this.save());
    at("rows").addEventListener("keydown", (event) => {
      if (!KEYS[event.key] || !this.opened || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.step(KEYS[event.key]);
    });
  }

  clear() {
    this.rows = [];
    this.columns = [];
    this.names = [];
    this.sort = { key: "number", up: true };
    this.shown = SHOWN;
    this.opened = null;
    this.known = new Map();
    at("corpus").replaceChildren();
    delete at("file-result").dataset.filled;
    at("file-result").classList.remove("stale");
    at("file-result").hidden = true;
  }

  /* How the file is read: what was chosen, besides what the server recognises. */
  get request() {
    const choice = (id) => ({ yes: true, no: false }[at(id).value] ?? null);
    const chosen = (id) => at(id).value || null;
    return {
      file: this.file, header: choice("header"), quoting: choice("quoting"),
      replace_invalid: at("replace-invalid").checked,
      columns: {
        hyp: chosen("hyp-column"), refs: chosen("ref-column") ? [at("ref-column").value] : [], src: chosen("src-column"),
      },
    };
  }

  async open(content, signal) {
    this.clear();
    this.file = content;
    for (const id of ["hyp-column", "ref-column", "src-column"]) at(id).replaceChildren(new Option("recognised", ""));
    for (const id of ["header", "quoting"]) at(id).value = "";
    return this.preview(signal);
  }

  async preview(signal) {
    at("preview").hidden = true;
    at("reading").hidden = false;
    this.reading = null;
    const found = await requestJson("/api/read", this.request, signal);
    this.reading = found;
    const roles = { ...found.roles, refs: found.roles.refs.join(", ") };
    for (const [id, role] of [["hyp-column", "hyp"], ["ref-column", "refs"], ["src-column", "src"]]) {
      const before = at(id).value;
      at(id).replaceChildren(new Option(`recognised: ${roles[role] || "none"}`, ""), ...found.columns.map((name) => new Option(name)));
      at(id).value = found.columns.includes(before) ? before : "";
    }
    for (const [role, choice] of Object.entries(this.languages)) {
      const column = found.roles[{ lang: "lang", reference_lang: "ref_lang", source_lang: "src_lang" }[role]];
      choice.select.closest("p").hidden = Boolean(column) || (role === "source_lang" && !found.roles.src)
        || (role === "reference_lang" && !found.roles.refs.length);
      choice.choose("");
      choice.show(found.guesses[role]);
    }
    this.showPreview(found, roles);
    return found;
  }

  showPreview(found, roles) {
    const read = `${found.name} was read as ${{ tsv: "TSV", csv: "CSV", jsonl: "JSON Lines" }[found.format]} ${found.header ? "with" : "without"} a header: ${counted(found.rows, "row")}. First text: ${roles.hyp}.`
      + `${roles.refs ? ` Second text: ${roles.refs}.` : ""}${roles.src ? ` Source: ${roles.src}.` : ""}${roles.lang ? ` Languages: ${[...new Set([roles.lang, roles.ref_lang, roles.src_lang])].filter(Boolean).join(", ")}.` : ""}`
      + `${found.refused ? ` ${counted(found.refused, "row")} cannot be scored.` : ""}`;
    const line = (row) => element("tr", {},
      element("td", { className: "number", textContent: row.row }),
      ...(row.error ? [element("td", { className: "error", colSpan: 3, textContent: row.error })] : [
        element("td", { className: "text", dir: "auto", textContent: row.hypothesis }),
        element("td", { className: "text", dir: "auto", textContent: [...row.references, row.source ?? ""].filter(Boolean).join(" / ") }),
        element("td", { textContent: [row.lang, row.reference_lang].filter(Boolean).map(languageName).join(", ") }),
      ]));
    at("read").textContent = read;
    at("preview-rows").replaceChildren(...found.preview.map(line));
    at("preview").hidden = false;
  }

  async score(names, settings, signal) {
    const { lang, reference_lang, source_lang } = this.languages;
    const given = { lang: lang.value || null, reference_lang: reference_lang.value || null, source_lang: source_lang.value || null };
    const { roles } = this.reading;
    const usable = this.measures.usable(names, {
      languages: Boolean((roles.lang || given.lang) && (roles.ref_lang || given.reference_lang || !roles.refs.length)),
      source: Boolean(roles.src), sourceLanguage: Boolean(roles.src_lang || given.source_lang),
    });
    if (!usable.left.length) throw new Error(usable.note);
    this.clear();
    const lines = requestLines("/api/score/file", { ...this.request, measures: usable.left, settings, ...given }, signal);
    let summary = null, total = 0, looked = 0;
    this.started = performance.now();
    for await (const line of lines) {
      if (line.summary) summary = line.summary;
      else if (line.row === undefined) {
        ({ columns: this.columns, measures: this.names, rows: total } = line);
        this.given = given;
        at("filter-measure").replaceChildren(...this.names.map((name) => new Option(name)));
        at("file-result").dataset.filled = "yes";
        at("file-result").hidden = false;
      } else this.rows.push({ ...line, number: line.row });
      if (performance.now() - looked > EVERY) {
        this.progress(total);
        this.show();
        looked = performance.now();
      }
    }
    [this.sort.key] = this.names; // the worst first
    this.progress(total);
    this.show();
    this.showSummary(summary);
    return { summary, note: usable.note };
  }

  progress(total) {
    this.total = total;
    at("progress").max = total;
    at("progress").value = this.rows.length;
  }

  showSummary(summary) {
    const cards = this.names.map((name) => {
      const about = summary.measures[name];
      const made = card(name, about.system, about, this.measures.named(name), false);
      made.append(this.histogram(name));
      return made;
    });
    const marks = Object.entries(summary.marks).filter(([, count]) => count).map(([mark, count]) => element("p", {
      className: "caution", textContent: `${counted(count, "row")}: ${(CAUTIONS[mark] ?? mark)}`,
    }));
    const warnings = (summary.warnings ?? []).map((text) => element("p", { className: "caution", textContent: text }));
    at("corpus").replaceChildren(element("h2", { textContent: "The whole file" }), ...warnings, ...marks, element("ul", { className: "scores" }, ...cards));
  }

  /* The distribution of the scores of the rows. */
  histogram(name) {
    const scores = this.rows.map((row) => row.scores[name]).filter((score) => typeof score === "number");
    const low = Math.min(...scores), high = Math.max(...scores);
    const counts = new Array(BINS).fill(0);
    for (const score of scores) counts[Math.min(BINS - 1, Math.floor(((score - low) / (high - low || 1)) * BINS))] += 1;
    const most = Math.max(...counts);
    const bars = counts.map((count, place) => {
      const made = element("span", { title: `${(low + ((high - low) * place) / BINS).toFixed(3)} and more: ${counted(count, "row")}` });
      made.style.height = `${(100 * count) / most}%`;
      return made;
    });
    return element("figure", { className: "histogram", aria: { role: "img", label: `Distribution of ${name} over ${counted(scores.length, "row")}, from ${low.toFixed(3)} to ${high.toFixed(3)}` } },
      element("div", {}, ...bars), element("figcaption", {}, element("span", { textContent: low.toFixed(2) }), element("span", { textContent: high.toFixed(2) })));
  }

  textsOf(row) {
    const { roles } = this.reading;
    const get = (column) => (column === null ? null : row.record[column]);
    const others = roles.refs.flatMap((column) => get(column) ?? []);
    return {
      a: get(roles.hyp) ?? "", others, source: get(roles.src) ?? "",
      la: get(roles.lang) || this.given.lang || "", lb: get(roles.ref_lang) || this.given.reference_lang || "",
      ls: get(roles.src_lang) || this.given.source_lang || "",
    };
  }

  selected() {
    const pattern = at("filter").value.toLowerCase();
    const measure = at("filter-measure").value;
    const bound = (id, otherwise) => (at(id).value === "" ? otherwise : Number(at(id).value));
    const low = bound("filter-low", -Infinity), high = bound("filter-high", Infinity);
    const open = low === -Infinity && high === Infinity;
    const rows = this.rows.filter((row) => {
      const score = row.scores[measure];
      return (open || (typeof score === "number" && score >= low && score <= high)) && (!pattern ||
        Object.values(row.record).some((text) => String(text).toLowerCase().includes(pattern)));
    });
    const value = (row) => (this.sort.key === "number" ? row.number : row.scores[this.sort.key] ?? undefined);
    const sign = this.sort.up ? 1 : -1;
    return rows.sort((one, other) => {
      const a = value(one), b = value(other);
      if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
      return sign * (a - b) || one.number - other.number;
    });
  }

  show() {
    const rows = this.selected();
    document.querySelector("#rows thead").replaceChildren(this.head());
    const lines = rows.slice(0, this.shown).flatMap((row) => (row === this.opened ? [this.line(row), this.detail(row)] : [this.line(row)]));
    document.querySelector("#rows tbody").replaceChildren(...lines);
    at("more").hidden = rows.length <= this.shown;
    const scored = this.rows.length < this.total ? `${this.rows.length} of ${this.total} rows scored${this.left()}` : counted(this.total, "row");
    at("count").textContent = rows.length < this.rows.length ? `${rows.length} of ${scored} match the filter` : scored;
    at("progress").hidden = this.rows.length === this.total;
  }

  left() {
    const seconds = (performance.now() - this.started) / 1000;
    if (seconds < 2 || !this.rows.length) return "";
    const rest = Math.ceil((seconds * (this.total - this.rows.length)) / this.rows.length);
    return `, about ${rest < 90 ? `${rest} s` : `${Math.round(rest / 60)} min`} left`;
  }

  /* From 0, the best score of the column, to the number of shades, the worst. */
  shade(name, score) {
    if (this.ranges?.of !== this.rows.length) {
      const scores = (each) => this.rows.map((row) => row.scores[each]).filter((value) => typeof value === "number").sort((a, b) => a - b);
      this.ranges = { of: this.rows.length, ...Object.fromEntries(this.names.map((each) => [each, scores(each)])) };
    }
    const sorted = this.ranges[name], better = sorted.findIndex((value) => value >= score);
    return Math.round(SHADES * (1 - better / Math.max(1, sorted.length - 1)));
  }

  head() {
    const line = element("tr", { role: "row" }); // explicit, because narrow screens lay out rows as blocks
    const cell = (className, ...content) => line.appendChild(element("th", { scope: "col", role: "columnheader", className }, ...content));
    for (const key of ["number", ...this.names]) {
      const sorted = this.sort.key === key;
      const made = element("button", { type: "button", data: { key }, textContent: `${key === "number" ? "row" : key}${sorted ? (this.sort.up ? " ↑" : " ↓") : ""}` });
      made.addEventListener("click", () => {
        this.sort = { key, up: sorted ? !this.sort.up : true };
        this.show();
        document.querySelector(`#rows th button[data-key="${CSS.escape(key)}"]`).focus();
      });
      cell("number", made).setAttribute("aria-sort", sorted ? (this.sort.up ? "ascending" : "descending") : "none");
    }
    cell("text", "first text");
    cell("text", "second text");
    cell("", element("span", { className: "unseen", textContent: "review" }));
    return line;
  }

  line(row) {
    const line = element("tr", { role: "row" });
    const cell = (className, ...content) => line.appendChild(element("td", { role: "cell", className }, ...content));
    const { a, others, source, la, lb, ls } = this.textsOf(row);
    cell("number", String(row.number));
    for (const name of this.names) {
      const score = row.scores[name], known = typeof score === "number";
      cell(known ? `number shaded-${this.shade(name, score)}` : "number", known ? score.toFixed(2) : "–").dataset.name = name;
    }
    cell("text", String(a)).dir = "auto";
    cell("text", (others.length ? others : [source]).join(" / ")).dir = "auto";
    const last = cell("why");
    if (row.error) {
      last.className = "error";
      last.textContent = row.error;
      return line;
    }
    if (row.marks.length) last.append(element("span", { className: "flag", textContent: row.marks.join(", "), title: row.marks.map((mark) => CAUTIONS[mark]).join(" ") }), " ");
    const open = row === this.opened;
    last.append(button(open ? "Close" : "Why?", () => this.expand(open ? null : row), {
      ariaLabel: `${open ? "Close" : "Review"} row ${row.number}`, aria: { expanded: String(open) }, data: { row: row.number },
    }));
    return line;
  }

  expand(row) {
    this.opened = row;
    this.show();
    if (row) document.querySelector(`#rows button[data-row="${row.number}"]`)?.focus();
  }

  /* The row before or after the one that is open, as the table shows them. */
  step(by) {
    const rows = this.selected().filter((row) => !row.error).slice(0, this.shown);
    const next = rows[rows.indexOf(this.opened) + by];
    if (next) this.expand(next);
  }

  /* Below a row: the verdict and both texts. */
  detail(row) {
    const { a, others, source, la, lb, ls } = this.textsOf(row);
    const pair = { a: String(a), b: String(others[0] ?? source), la, lb: others.length ? lb : ls };
    const where = element("div", {}, element("p", { className: "key", textContent: "Working …" }));
    const link = { ...pair, r: others.slice(1).join("\n"), s: others.length ? String(source) : "", ls };
    const actions = element("p", { className: "actions" }, button("Previous", () => this.step(-1)), button("Next", () => this.step(1)),
      button("Open in two texts", () => this.explain(link)), element("span", { className: "key", textContent: "Keys: ↑ or k, ↓ or j." }));
    const found = this.known.get(row) ?? review(pair);
    this.known.set(row, found);
    found.then((result) => showVerdict(where, pair, result), (error) => {
      this.known.delete(row);
      where.replaceChildren(element("p", { className: "error", textContent: error.message }));
    });
    return element("tr", { role: "row", className: "detail" },
      element("td", { role: "cell", colSpan: this.names.length + 4 }, where, actions));
  }

  save() {
    const lines = [[...this.columns, ...this.names, "cut", "marks", "error"]];
    for (const row of this.selected()) {
      lines.push([...this.columns.map((column) => row.record[column]), ...this.names.map((name) => row.scores[name]),
        row.cut, row.marks.join(","), row.error]);
    }
    const name = this.reading.name.replace(/\.[^.]*$/, "");
    download(`${name}.scored.tsv`, lines.map((cells) => `${cells.map(plain).join("\t")}\n`).join(""), "text/tab-separated-values");
  }
}

export const openFile = (rows, file, signal) => fileContent(file).then((content) => rows.open(content, signal));
