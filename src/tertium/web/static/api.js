// Requests to the server: with the token, and with retries when the queue is full.

const KEY = "tertium-token";
const ATTEMPTS = 20;
const NO_SERVER = "The server does not answer. Is it still running?";

export class RequestError extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

let tokenPrompt = null;

function askForToken(wasWrong) {
  tokenPrompt ??= new Promise((resolve) => {
    const dialog = document.getElementById("token-dialog");
    const field = document.getElementById("token");
    document.getElementById("token-wrong").hidden = !wasWrong;
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
    let response;
    try {
      response = await fetch(path, {
        method: body === undefined ? "GET" : "POST",
        headers: {
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
          ...(token ? { Authorization: `Bearer ${token}` } : {}),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal,
      });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new RequestError(0, NO_SERVER);
    }
    if (response.ok) return response;
    if (response.status === 401) {
      const renewed = token !== sessionStorage.getItem(KEY); // by another request, in the meantime
      if (renewed || (await askForToken(Boolean(token)))) continue;
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

/* The objects of a stream (NDJSON), as they come. */
export async function* requestLines(path, body, signal) {
  const response = await request(path, body, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", complete = false;
  while (!complete) {
    let part;
    try {
      part = await reader.read();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new RequestError(0, NO_SERVER);
    }
    complete = part.done;
    const lines = (rest + (part.value ?? "")).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const content = JSON.parse(line);
      if (typeof content.error === "string" && content.row === undefined) throw new RequestError(400, content.error);
      yield content;
    }
  }
  if (rest) throw new RequestError(0, NO_SERVER);
}

/* A chosen file as the server takes it: its bytes, which may not be UTF-8. */
export async function fileContent(file) {
  const address = await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(new Error(`${file.name} cannot be read`));
    reader.readAsDataURL(file);
  });
  return { name: file.name, base64: address.slice(address.indexOf(",") + 1) };
}
