// Small helpers for the elements of the page.

export const at = (id) => document.getElementById(id);

export function element(tag, properties = {}, ...children) {
  const { aria = {}, data = {}, ...others } = properties;
  const made = Object.assign(document.createElement(tag), others);
  for (const [name, value] of Object.entries(aria)) made.setAttribute(name === "role" ? name : `aria-${name}`, value);
  Object.assign(made.dataset, data);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const button = (text, act, properties = {}) => {
  const made = element("button", { type: "button", textContent: text, ...properties });
  made.addEventListener("click", () => act(made));
  return made;
};

export function showStatus(text, isError = false) {
  at("status").textContent = text;
  at("status").classList.toggle("error", isError);
}

export function download(name, content, type) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

export async function copy(text, where) {
  const before = where.textContent;
  try {
    await navigator.clipboard.writeText(text);
    where.textContent = "Copied";
  } catch {
    where.textContent = "Not allowed: copy it below";
  }
  setTimeout(() => { where.textContent = before; }, 2000);
}

export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
