// Files of pairs, in the formats of `tertium score`.

const ALIASES = {
  hypothesis: ["hyp", "hypothesis", "mt", "sentence1"],
  reference: ["ref", "reference", "sentence2"],
  source: ["src", "source"],
  lang: ["hyp_lang", "lang"],
  reference_lang: ["ref_lang", "lang"],
  source_lang: ["src_lang"],
};

export function readFile(name, text) {
  const content = text.replace(/^\uFEFF/, "");
  const lower = name.toLowerCase();
  if (lower.endsWith(".jsonl")) return readJsonLines(content);
  const lines = lower.endsWith(".csv") ? csvRecords(content) : tsvRecords(content);
  if (!lines.length) throw new Error(`${name} is empty`);
  const aliases = new Set(Object.values(ALIASES).flat());
  const named = lines[0].some((cell) => aliases.has(cell));
  const columns = named ? lines[0] : lines[0].map((_, place) => String(place + 1));
  if (!named && columns.length < 2) {
    throw new Error(`${name} has one column; two texts per row are needed`);
  }
  const records = (named ? lines.slice(1) : lines).map((cells, place) => {
    if (cells.length !== columns.length) {
      throw new Error(
        `${name}, row ${place + 1}: ${cells.length} ${cells.length === 1 ? "column" : "columns"} instead of ${columns.length}`,
      );
    }
    return Object.fromEntries(columns.map((column, index) => [column, cells[index]]));
  });
  return table(name, columns, records, named ? {} : { hypothesis: "1", reference: "2" });
}

function readJsonLines(content) {
  const records = content.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line));
  const columns = [...new Set(records.flatMap((record) => Object.keys(record)))];
  return table("the file", columns, records, {});
}

function table(name, columns, records, given) {
  const roles = { ...given };
  for (const [role, aliases] of Object.entries(ALIASES)) {
    roles[role] ??= aliases.find((alias) => columns.includes(alias));
  }
  if (!roles.hypothesis || !(roles.reference || roles.source)) {
    throw new Error(`no columns with the two texts in ${name}; its columns are ${columns.join(", ")}`);
  }
  return { columns, roles, records };
}

const tsvRecords = (content) =>
  content.replace(/\n$/, "").split("\n").filter((line, place) => line || place)
    .map((line) => line.replace(/\r$/, "").split("\t"));

function csvRecords(content) {
  const records = [[]];
  let cell = "", quoted = false;
  const close = () => { records.at(-1).push(cell); cell = ""; };
  for (let place = 0; place < content.length; place += 1) {
    const letter = content[place];
    if (quoted) {
      if (letter !== '"') cell += letter;
      else if (content[place + 1] === '"') { cell += '"'; place += 1; }
      else quoted = false;
    } else if (letter === '"' && cell === "") quoted = true;
    else if (letter === ",") close();
    else if (letter === "\n") { close(); records.push([]); }
    else if (letter !== "\r") cell += letter;
  }
  if (cell || records.at(-1).length) close();
  else records.pop();
  return records;
}

export function pairOf({ roles }, record, lang, referenceLang) {
  const get = (role) => (roles[role] === undefined ? undefined : record[roles[role]]);
  const pair = {
    hypothesis: get("hypothesis"), reference: get("reference"), source: get("source"),
    lang: get("lang") || lang || undefined,
    reference_lang: get("reference_lang") || referenceLang || undefined,
    source_lang: get("source_lang") || undefined,
  };
  return Object.fromEntries(Object.entries(pair).filter(([, value]) => value !== undefined));
}

const plain = (value) => {
  if (value === null || value === undefined) return "";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text.replace(/[\t\r\n]/g, " ");
};

export function toTsv(columns, rows) {
  return [columns, ...rows].map((cells) => `${cells.map(plain).join("\t")}\n`).join("");
}
