// Requests to the server: with the token, and with retries when the queue is full.

const KEY = "tertium-token";
const ATTEMPTS = 20;

export class RequestError extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

let tokenPrompt = null;

function askForToken() {
  tokenPrompt ??= new Promise((resolve) => {
    const dialog = document.getElementById("token-dialog");
    const field = document.getElementById("token");
    dialog.addEventListener("close", () => {
      const given = field.value.trim();
      field.value = "";
      tokenPrompt = null;
      if (given) sessionStorage.setItem(KEY, given);
      resolve(Boolean(given));
    }, { once: true });
    dialog.showModal();
  });
  return tokenPrompt;
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
      const renewed = token !== sessionStorage.getItem(KEY); // by another request, in the meantime
      if (renewed || (await askForToken())) continue;
    }
    if (response.status === 503 && attempt < ATTEMPTS) {
      await pause(1000 * Number(response.headers.get("Retry-After") ?? 1));
      continue;
    }
    const refusal = await response.json().catch(() => ({}));
    throw new RequestError(response.status, refusal.detail ?? `the server responded with status ${response.status}`);
  }
}

export const requestJson = async (path, body, signal) => (await request(path, body, signal)).json();
export const requestHtml = async (path, body, signal) => (await request(path, body, signal)).text();
