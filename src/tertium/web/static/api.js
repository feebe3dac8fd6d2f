// Requests to the server: with the token, and patiently where it is full.

const KEY = "tertium-token";
const ATTEMPTS = 20;

export class Refusal extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

let asking = null;

function askForToken() {
  asking ??= new Promise((resolve) => {
    const dialog = document.getElementById("token-dialog");
    const field = document.getElementById("token");
    dialog.addEventListener("close", () => {
      const given = field.value.trim();
      field.value = "";
      asking = null;
      if (given) sessionStorage.setItem(KEY, given);
      resolve(Boolean(given));
    }, { once: true });
    dialog.showModal();
  });
  return asking;
}

async function request(path, body, signal) {
  for (let attempt = 1; ; attempt += 1) {
    const token = sessionStorage.getItem(KEY);
    const response = await fetch(path, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(token ? { Authorization: `Bearer ${token}` } : {}),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
    if (response.ok) return response;
    if (response.status === 401) {
      const renewed = token !== sessionStorage.getItem(KEY); // while we were asking
      if (renewed || (await askForToken())) continue;
    }
    if (response.status === 503 && attempt < ATTEMPTS) {
      await pause(1000 * Number(response.headers.get("Retry-After") ?? 1));
      continue;
    }
    const told = await response.json().catch(() => ({}));
    throw new Refusal(response.status, told.detail ?? `the server says ${response.status}`);
  }
}

export const ask = async (path, body, signal) => (await request(path, body, signal)).json();
export const askForHtml = async (path, body, signal) => (await request(path, body, signal)).text();
