// The view in the fragment of the address, which browsers do not send to the server.

const TEXTS = ["a", "b", "la", "lb", "s", "ls", "r"];

export function readLink(hash = location.hash) {
  const given = new URLSearchParams(hash.slice(1));
  if (!given.has("a") && !given.has("m")) return null;
  const view = Object.fromEntries(TEXTS.map((field) => [field, given.get(field) ?? ""]));
  const settings = Object.fromEntries(
    [...given].filter(([name]) => name.startsWith("set.")).map(([name, value]) => [name.slice(4), value]),
  );
  return { ...view, measures: given.get("m") ? given.get("m").split(",") : [], settings };
}

export function linkOf({ measures, settings, ...view }) {
  const fields = new URLSearchParams(TEXTS.filter((name) => view[name]).map((name) => [name, view[name]]));
  fields.set("m", measures.join(","));
  for (const [name, value] of Object.entries(settings)) fields.set(`set.${name}`, value);
  return `#${fields}`;
}
