// Systems: outputs of two or more, pasted or as files, and the report of their comparison.

import { fileContent, requestLines } from "./api.js";
import { at, button, download, element } from "./dom.js";
import { Detector, LanguageChoice } from "./languages.js";

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
    at("add-system").addEventListener("click", () => this.add().box.focus());
    this.add();
    this.add();
  }

  clear() {
    at("systems-result").replaceChildren();
    delete at("systems-result").dataset.filled;
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

  get table() { return at("systems-table").files[0]; }

  async showWay() {
    at("several").hidden = Boolean(this.table);
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
