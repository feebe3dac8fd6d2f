// The OpenAPI description, for people to read, without anything from elsewhere.

const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

const description = await (await fetch("/openapi.json")).json();
const named = (reference) => description.components.schemas[reference.split("/").at(-1)];

function kind(schema) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.anyOf) return schema.anyOf.map(kind).join(" or ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(", ");
  if (schema.type === "array") return `list of ${kind(schema.items)}`;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  return schema.type ?? "anything";
}

function fields(schema) {
  const list = element("ul");
  for (const [name, each] of Object.entries(schema.properties ?? {})) {
    const needed = schema.required?.includes(name) ? ", needed" : "";
    const inherent = each.default === undefined || each.default === null ? ""
      : `, default ${JSON.stringify(each.default)}`;
    list.append(element("li", {}, element("code", { textContent: name }),
      ` ${kind(each)}${needed}${inherent}${each.description ? `: ${each.description}` : ""}`));
  }
  return list;
}

function operation(path, method, told) {
  const section = element("section", { className: "operation" },
    element("h2", { textContent: `${method.toUpperCase()} ${path}` }),
    element("p", { textContent: told.description ?? told.summary }));
  const asked = told.requestBody?.content["application/json"].schema;
  if (asked) {
    const schema = named(asked.$ref);
    section.append(element("h3", { textContent: "Request" }), fields(schema));
    for (const example of schema.examples ?? []) {
      const command = `curl ${location.origin}${path} -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(example)}'`;
      section.append(element("pre", { tabIndex: 0, textContent: command }));
    }
  }
  const answered = told.responses["200"]?.content?.["application/json"]?.schema;
  if (answered?.$ref) section.append(element("h3", { textContent: "Answer" }), fields(named(answered.$ref)));
  const refusals = Object.entries(told.responses).filter(([status]) => status !== "200");
  section.append(element("p", { className: "key", textContent: refusals.map(([status, each]) => `${status}: ${each.description}`).join(" ") }));
  return section;
}

for (const [path, methods] of Object.entries(description.paths)) {
  for (const [method, told] of Object.entries(methods)) {
    document.getElementById("operations").append(operation(path, method, told));
  }
}
const others = element("section", { className: "operation" }, element("h2", { textContent: "Parts" }));
for (const [name, schema] of Object.entries(description.components.schemas)) {
  others.append(element("h3", { textContent: name }), element("p", { textContent: schema.description ?? "" }), fields(schema));
}
document.getElementById("operations").append(others);
