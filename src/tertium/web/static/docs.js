// Renders the OpenAPI description as HTML, without external libraries.

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
    const required = schema.required?.includes(name) ? ", required" : "";
    const fallback = each.default === undefined || each.default === null ? ""
      : `, default ${JSON.stringify(each.default)}`;
    list.append(element("li", {}, element("code", { textContent: name }),
      ` ${kind(each)}${required}${fallback}${each.description ? `: ${each.description}` : ""}`));
  }
  return list;
}

function operation(path, method, details) {
  const section = element("section", { className: "operation" },
    element("h2", { textContent: `${method.toUpperCase()} ${path}` }),
    element("p", { textContent: details.description ?? details.summary }));
  const body = details.requestBody?.content["application/json"].schema;
  if (body) {
    const schema = named(body.$ref);
    section.append(element("h3", { textContent: "Request" }), fields(schema));
    for (const example of schema.examples ?? []) {
      const command = `curl ${location.origin}${path} -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(example)}'`;
      section.append(element("pre", { tabIndex: 0, textContent: command }));
    }
  }
  const success = details.responses["200"]?.content?.["application/json"]?.schema;
  if (success?.$ref) section.append(element("h3", { textContent: "Response" }), fields(named(success.$ref)));
  const refusals = Object.entries(details.responses).filter(([status]) => status !== "200");
  section.append(element("p", { className: "key", textContent: refusals.map(([status, each]) => `${status}: ${each.description}`).join(" ") }));
  return section;
}

for (const [path, methods] of Object.entries(description.paths)) {
  for (const [method, details] of Object.entries(methods)) {
    document.getElementById("operations").append(operation(path, method, details));
  }
}
const others = element("section", { className: "operation" }, element("h2", { textContent: "Schemas" }));
for (const [name, schema] of Object.entries(description.components.schemas)) {
  others.append(element("h3", { textContent: name }), element("p", { textContent: schema.description ?? "" }), fields(schema));
}
document.getElementById("operations").append(others);
