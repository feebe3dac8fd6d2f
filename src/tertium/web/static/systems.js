// Systems: outputs of two or more, pasted or as files, and the report of their comparison.

import { fileContent, requestLines } from "./api.js";
import { at, button, download, element } from "./dom.js";
import { Detector, LanguageChoice } from "./languages.js";

const ROLES = { references: /(^|[^a-z])(refs?|references?|gold|human)([^a-z]|$)/i, sources: /(^|[^a-z])(srcs?|sources?|orig(inals?)?)([^a-z]|$)/i };
const TABLE = /\.(tsv|csv|jsonl|ndjson)$/i;
const NAMED = /(^|[\t,;"{])\s*"?(hyp_lang|lang|tgt_lang|target_lang)"?\s*([\t,;":]|$)/i;

/* Texts of one kind, one per line: pasted into a box, or in a file. */
class Lines {
  constructor(id, title, name, remove) {
    this.name = element("input", { id: `${id}-name`, value: name, maxLength: 80 });
    this.box = element("textarea", { id: `${id}-text`, rows: 3, dir: "auto", spellcheck: false, placeholder: "one text per line" });
    this.file = element("input", { type: "file", id: `${id}-file` });
    this.file.addEventListener("change", () => {
      if (!this.file.files.length) return;
      this.box.value = "";
      if (this.named) this.name.value = this.file.files[0].name.replace(/\.[^.]*$/, "");
    });
    this.box.addEventListener("input", () => { this.file.value = ""; });
    this.named = Boolean(remove);
    const label = (made, text) => element("label", { htmlFor: made.id, textContent: text });
    this.element = element("div", { className: "lines" },
      this.named ? element("p", {}, label(this.name, "Name of the system"), this.name) : null,
      element("p", { className: "grow" }, label(this.box, title), this.box),
      element("p", {}, label(this.file, "or a file"), this.file),
      remove ? button("Remove", () => remove(this), { className: "quiet", ariaLabel: `Remove the system ${name}` }) : null);
  }

  put(file) {
    const data = new DataTransfer();
    data.items.add(file);
    this.file.files = data.files;
    this.file.dispatchEvent(new Event("change", { bubbles: true }));
  }

  get given() { return Boolean(this.file.files.length || this.box.value.trim()); }

  async sample() {
    return this.file.files.length ? this.file.files[0].slice(0, 4000).text() : this.box.value.slice(0, 2000);
  }

  async content(kind) {
    const name = `${kind}${this.named ? this.name.value.trim().replaceAll(/[/\\]/g, "-") || "system" : ""}.txt`;
    if (this.file.files.length) return { ...await fileContent(this.file.files[0]), name };
    return { name, text: this.box.value };
  }
}

export class Systems {
  constructor(measures, languages) {
    this.measures = measures;
    this.systems = [];
    this.languages = { lang: new LanguageChoice(at("systems-lang"), languages), source_lang: new LanguageChoice(at("systems-source-lang"), languages) };
    this.references = new Lines("references", "References", "references");
    this.sources = new Lines("sources", "Sources (optional if there are references)", "sources");
    at("others").append(this.references.element, this.sources.element);
    this.detector = new Detector([[this.references.box, this.languages.lang], [this.sources.box, this.languages.source_lang]]);
    for (const each of [this.references, this.sources]) each.file.addEventListener("change", () => this.identifyFile(each));
    at("systems-table").addEventListener("change", () => this.showWay());
    at("no-table").addEventListener("click", () => {
      at("systems-table").value = "";
      this.showWay();
    });
    at("add-system").addEventListener("click", () => this.add().box.focus());
    this.add();
    this.add();
  }

  clear() {
    at("systems-result").replaceChildren();
    delete at("systems-result").dataset.filled;
    at("systems-result").classList.remove("stale");
    at("systems-result").hidden = true;
  }

  add() {
    this.count = (this.count ?? 0) + 1;
    const made = new Lines(`system-${this.count}`, "Outputs", `system ${this.count}`, (gone) => {
      this.systems = this.systems.filter((each) => each !== gone);
      gone.element.remove();
      at("add-system").focus();
    });
    made.box.addEventListener("input", () => this.identifyOutputs());
    this.systems.push(made);
    at("systems").append(made.element);
    return made;
  }

  /* Sort dropped files by their names: references, sources and outputs; or one table. */
  put(files) {
    if (files.length === 1 && TABLE.test(files[0].name)) {
      const data = new DataTransfer();
      data.items.add(files[0]);
      at("systems-table").files = data.files;
      at("systems-table").dispatchEvent(new Event("change", { bubbles: true }));
      return `${files[0].name} is taken as a table with one column per system.`;
    }
    const sorted = { references: [], sources: [], systems: [] };
    for (const file of files) {
      const role = Object.keys(ROLES).find((name) => ROLES[name].test(file.name.replace(/\.[^.]*$/, ""))) ?? "systems";
      sorted[role].push(file);
    }
    for (const role of ["references", "sources"]) if (sorted[role].length) this[role].put(sorted[role][0]);
    for (const file of sorted.systems) (this.systems.find((each) => !each.given) ?? this.add()).put(file);
    return Object.entries(sorted).filter(([, several]) => several.length)
      .map(([role, several]) => `${role === "systems" ? "outputs" : role}: ${several.map(({ name }) => name).join(", ")}`).join("; ");
  }

  /* Put an example into the boxes. */
  fill({ systems, references, sources }) {
    at("systems-table").value = "";
    this.showWay();
    const put = (lines, text) => {
      lines.file.value = "";
      lines.box.value = text;
      lines.box.dispatchEvent(new Event("input", { bubbles: true }));
    };
    Object.entries(systems).forEach(([name, text], place) => {
      const lines = this.systems[place] ?? this.add();
      lines.name.value = name;
      put(lines, text);
    });
    put(this.references, references);
    put(this.sources, sources);
  }

  get table() { return at("systems-table").files[0]; }

  async showWay() {
    at("several").hidden = Boolean(this.table);
    at("no-table").hidden = !this.table;
    if (!this.table) return;
    this.names = NAMED.test((await this.table.slice(0, 4000).text()).split("\n")[0]);
  }

  async identifyFile(lines) {
    const box = lines.box;
    box.value = await lines.sample();
    await this.detector.now().catch(() => {});
    box.value = "";
  }

  /* Without references, the language is that of the outputs. */
  identifyOutputs() {
    if (this.references.given) return;
    this.outputs ??= new Detector([[this.systems[0].box, this.languages.lang]]);
    this.outputs.later();
  }

  async compare(names, settings, signal, progress) {
    const { table } = this;
    const systems = this.systems.filter((each) => each.given);
    if (!table && systems.length < 2) throw new Error("Paste or choose the outputs of two or more systems.");
    if (!table && !this.references.given && !this.sources.given) throw new Error("Paste or choose references or sources.");
    const lang = this.languages.lang.value, sourceLang = this.languages.source_lang.value;
    const usable = this.measures.usable(names, {
      languages: Boolean(lang || (table && this.names)),
      source: Boolean(table || this.sources.given), sourceLanguage: Boolean(table || sourceLang),
    });
    if (!usable.left.length) throw new Error(usable.note);
    const request = {
      ...(table ? { table: await fileContent(table) } : {
        systems: await Promise.all(systems.map((each) => each.content(""))),
        references: this.references.given ? [await this.references.content("references")] : [],
        source: this.sources.given ? await this.sources.content("sources") : null,
      }),
      measures: usable.left, settings, lang: lang || null, source_lang: sourceLang || null,
      replace_invalid: at("systems-replace-invalid").checked,
    };
    this.clear();
    let page = null;
    for await (const line of requestLines("/api/compare/stream", request, signal)) {
      if (line.page) ({ page } = line);
      else progress(line.scored, line.segments);
    }
    this.show(page);
    return usable.note;
  }

  /* The report is a page of its own; what it shows is put here, and the whole of it can be saved. */
  show(page) {
    const main = page.slice(page.indexOf("<main"), page.indexOf("</main>")); // without its style
    const report = new DOMParser().parseFromString(main, "text/html").querySelector("main");
    report.querySelector("h1").replaceWith(element("h2", { textContent: "Which system is better?" }));
    const content = element("div", { className: "comparison" });
    content.append(...document.adoptNode(report).childNodes);
    at("systems-result").replaceChildren(
      element("p", {}, button("Download this report", () => download("comparison.html", page, "text/html"))), content);
    at("systems-result").dataset.filled = "yes";
    at("systems-result").hidden = false;
  }
}
