// A file, scored a few rows at a time; the rows can be sorted, filtered, saved and explained.

import { requestJson, RequestError } from "./api.js";
import { pairOf, readFile, toTsv } from "./files.js";

const ROWS_AT_A_TIME = 20;
const SHOWN = 100;
const at = (id) => document.getElementById(id);

export class Rows {
  constructor(explain) {
    this.explain = explain;
    this.rows = [];
    this.measures = [];
    this.sort = { key: "number", up: true };
    this.shown = SHOWN;
    for (const id of ["filter", "filter-measure", "filter-low", "filter-high"]) {
      at(id).addEventListener("input", () => this.show());
    }
    at("more").addEventListener("click", () => { this.shown += SHOWN; this.show(); });
    at("save").addEventListener("click", () => this.save());
  }

  async score(file, view, limits, signal) {
    this.table = readFile(file.name, await file.text());
    this.name = file.name;
    this.measures = view.measures;
    this.shown = SHOWN;
    this.rows = this.table.records.map((record, place) => ({
      number: place + 1, record, pair: pairOf(this.table, record, view.la, view.lb), scores: {},
    }));
    at("filter-measure").replaceChildren(...this.measures.map((name) => new Option(name)));
    at("file-result").hidden = false;
    this.progress(0);
    this.show();
    const size = Math.min(ROWS_AT_A_TIME, limits.pairs);
    for (let start = 0; start < this.rows.length; start += size) {
      await this.scoreSome(this.rows.slice(start, start + size), signal);
      this.progress(Math.min(start + size, this.rows.length));
      this.show();
    }
  }

  async scoreSome(rows, signal) {
    try {
      const result = await requestJson(
        "/api/score", { pairs: rows.map((row) => row.pair), measures: this.measures }, signal,
      );
      rows.forEach((row, place) => {
        for (const name of this.measures) row.scores[name] = result.measures[name].segments[place];
        row.cut = result.cut[place];
        row.marks = result.marks[place];
      });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      if (rows.length === 1) {
        rows[0].error = error.message.replace(/^row 1: /, "");
        return;
      }
      for (const row of rows) await this.scoreSome([row], signal); // one by one, to find which row is refused
    }
  }

  progress(done) {
    at("progress").max = this.rows.length;
    at("progress").value = done;
    at("count").textContent = `${done} of ${this.rows.length} rows`;
  }

  selected() {
    const pattern = at("filter").value.toLowerCase();
    const measure = at("filter-measure").value;
    const bound = (id, otherwise) => (at(id).value === "" ? otherwise : Number(at(id).value));
    const low = bound("filter-low", -Infinity), high = bound("filter-high", Infinity);
    const open = low === -Infinity && high === Infinity;
    const rows = this.rows.filter((row) => {
      const score = row.scores[measure];
      return (open || (score >= low && score <= high)) && (!pattern ||
        Object.values(row.record).some((text) => String(text).toLowerCase().includes(pattern)));
    });
    const value = (row) => (this.sort.key === "number" ? row.number : row.scores[this.sort.key]);
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
    document.querySelector("#rows tbody").replaceChildren(
      ...rows.slice(0, this.shown).map((row) => this.line(row)),
    );
    at("more").hidden = rows.length <= this.shown;
  }

  head() {
    const line = document.createElement("tr");
    line.role = "row"; // explicit, because narrow screens lay out rows as blocks
    for (const key of ["number", "", ...this.measures]) {
      const cell = line.appendChild(document.createElement("th"));
      cell.scope = "col";
      cell.role = "columnheader";
      if (!key) continue;
      cell.className = "number";
      const sorted = this.sort.key === key;
      cell.setAttribute("aria-sort", sorted ? (this.sort.up ? "ascending" : "descending") : "none");
      const button = cell.appendChild(document.createElement("button"));
      button.type = "button";
      button.dataset.key = key;
      button.textContent = `${key === "number" ? "row" : key}${sorted ? (this.sort.up ? " ↑" : " ↓") : ""}`;
      button.addEventListener("click", () => {
        this.sort = { key, up: sorted ? !this.sort.up : true };
        this.show();
        document.querySelector(`#rows th button[data-key="${key}"]`).focus();
      });
    }
    for (const title of ["first text", "second text"]) {
      const cell = line.appendChild(document.createElement("th"));
      cell.scope = "col";
      cell.role = "columnheader";
      cell.className = "text";
      cell.textContent = title;
    }
    return line;
  }

  line(row) {
    const line = document.createElement("tr");
    line.role = "row";
    const cell = (text, className = "") => {
      const made = line.appendChild(document.createElement("td"));
      made.role = "cell";
      made.textContent = text;
      made.className = className;
      return made;
    };
    cell(row.number, "number");
    const { hypothesis, reference, source } = row.pair;
    const others = [reference ?? source ?? ""].flat();
    if (row.error) {
      cell(row.error, "error");
    } else {
      const button = cell("").appendChild(document.createElement("button"));
      button.type = "button";
      button.textContent = "Explain";
      button.setAttribute("aria-label", `Explain the scores of row ${row.number}`);
      button.addEventListener("click", () => this.explain({
        a: hypothesis, b: others[0],
        la: row.pair.lang, lb: row.pair.reference_lang ?? row.pair.lang,
      }));
    }
    for (const name of this.measures) {
      const score = row.scores[name];
      const shown = score === undefined ? (row.error ? "–" : "…") : score.toFixed(4);
      cell(shown, "number").dataset.name = name;
    }
    cell(hypothesis, "text").dir = "auto";
    cell(others.join(" / "), "text").dir = "auto";
    return line;
  }

  save() {
    const columns = [...this.table.columns, ...this.measures, "cut", "marks"];
    const rows = this.selected().map((row) => [
      ...this.table.columns.map((column) => row.record[column]),
      ...this.measures.map((name) => row.scores[name]),
      row.cut === undefined ? "" : String(row.cut),
      (row.marks ?? []).join(","),
    ]);
    const address = URL.createObjectURL(
      new Blob([toTsv(columns, rows)], { type: "text/tab-separated-values" }),
    );
    const link = document.createElement("a");
    link.href = address;
    link.download = `${this.name.replace(/\.[^.]*$/, "")}.scored.tsv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }
}
