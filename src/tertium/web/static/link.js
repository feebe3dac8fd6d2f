// The view in the fragment of the address, which browsers do not send to the server.

const FIELDS = ["a", "b", "la", "lb", "m"];

export function readLink() {
  const given = new URLSearchParams(location.hash.slice(1));
  if (!given.has("a") && !given.has("m")) return null;
  const view = Object.fromEntries(FIELDS.map((field) => [field, given.get(field) ?? ""]));
  return { ...view, measures: view.m ? view.m.split(",") : [] };
}

export function writeLink({ a, b, la, lb, measures }) {
  const fields = new URLSearchParams({ a, b, la, lb, m: measures.join(",") });
  history.replaceState(null, "", `#${fields}`);
}
