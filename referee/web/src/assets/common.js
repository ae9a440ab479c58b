// @ts-check
// Shared by all pages: elements, requests, texts.

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {string|number|Node|null|undefined|false} Child */

/** Sets attributes; `on…` takes a listener, true an empty attribute, null and false none.
 * @param {Element} element
 * @param {Record<string, unknown>} attributes */
function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, String(value));
    }
  }
}

/** An element. Strings become text, never markup: names and output of agents are untrusted.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, unknown>|null} [attributes]
 * @param {...(Child|Child[])} children
 * @returns {HTMLElementTagNameMap[K]} */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  setAll(element, attributes ?? {});
  element.append(...shown(children));
  return element;
}

/** An SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, unknown>|null} [attributes]
 * @param {...(Child|Child[])} children
 * @returns {SVGElementTagNameMap[K]} */
export function s(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  setAll(element, attributes ?? {});
  element.append(...shown(children));
  return element;
}

/** @param {(Child|Child[])[]} children @returns {(string|Node)[]} */
function shown(children) {
  const all = children.flat();
  return all
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}

/** Replaces the children.
 * @param {Element} element
 * @param {...(Child|Child[])} children */
export function fill(element, ...children) {
  element.replaceChildren(...shown(children));
}

/** The element with this id.
 * @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element;
}

/** Text for screen readers only. @param {string} text */
export function hidden(text) {
  return h("span", { class: "unseen" }, text);
}

/** An error response: what happened and what to do. */
export class ServerError extends Error {
  /** @param {string} message @param {string|null} help @param {number} status */
  constructor(message, help, status) {
    super(message);
    this.help = help;
    this.status = status;
  }
}

/** @param {Response} response */
async function answer(response) {
  /** @type {any} */
  let body = null;
  try {
    body = await response.json();
  } catch {
    // Not JSON: only the status is known.
  }
  if (!response.ok || body === null) {
    const message = body?.error ?? `the server answered ${response.status}`;
    throw new ServerError(String(message), body?.help ?? null, response.status);
  }
  return body;
}

/** @param {string} path @param {Record<string, string|number|boolean|null>} [query] */
export function address(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${path}?${text}` : path;
}

/** @param {string} path @param {Record<string, string|number|boolean|null>} [query]
 * @returns {Promise<any>} */
export async function get(path, query) {
  return answer(await ask(address(path, query), { headers: { Accept: "application/json" } }));
}

/** @param {string} path @param {unknown} body @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function post(path, body, signal) {
  return postAs(path, body, "1", signal);
}

/** The same with the token of a team's page.
 * @param {string} path @param {unknown} body @param {string} token @param {AbortSignal} [signal]
 * @returns {Promise<any>} */
export async function postAs(path, body, token, signal) {
  const headers = { "Content-Type": "application/json", "X-Referee": token };
  return answer(await ask(path, { method: "POST", headers, body: JSON.stringify(body), signal }));
}

/** Sends files. @param {string} path @param {FormData} form @param {string} token @returns {Promise<any>} */
export async function postForm(path, form, token) {
  return answer(await ask(path, { method: "POST", headers: { "X-Referee": token }, body: form }));
}

/** @param {string} path @param {RequestInit} how */
async function ask(path, how) {
  try {
    return await fetch(path, { cache: "no-store", ...how });
  } catch {
    if (how.signal?.aborted) throw new ServerError("stopped", null, 0);
    throw new ServerError("the server can't be reached", "check that `referee serve` is running", 0);
  }
}

/** An error message. @param {unknown} error */
export function errorMessage(error) {
  const message = error instanceof Error ? error.message : String(error);
  const help = error instanceof ServerError ? error.help : null;
  const children = [h("strong", null, message), help && h("span", null, ` ${help}`)];
  return h("p", { class: "error", role: "alert" }, children);
}

/** The letter of a colour; none if it has no name. @param {string} colour */
export function letter(colour) {
  if (colour.startsWith("#")) return "";
  return colour === "peg" ? "o" : colour.slice(0, 1).toUpperCase();
}

/** A time on a clock: `1:05`, below ten seconds `9.3`. @param {number} ms */
export function clockText(ms) {
  const left = Math.max(0, ms);
  if (left < 9950) return (left / 1000).toFixed(1);
  const seconds = Math.round(left / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  const tail = `${two(seconds % 60)}`;
  return hours ? `${hours}:${two(minutes)}:${tail}` : `${minutes}:${tail}`;
}

/** A duration: `12 ms`, `1.25 s`. @param {number} ms */
export function duration(ms) {
  if (ms < 10) return `${Number(ms.toFixed(2))} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60000 ? `${(ms / 1000).toFixed(2)} s` : `${clockText(ms)} min`;
}

/** A date and time in the local time zone. @param {string|number} stamp */
export function moment(stamp) {
  const date = new Date(stamp);
  if (Number.isNaN(date.getTime())) return String(stamp);
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** Text cut to at most this many characters. @param {string} text @param {number} most */
export function short(text, most) {
  const characters = [...text.slice(0, 2 * most + 2)];
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : text;
}

/** An agent's name: cut, and isolated from the direction of the text around it. @param {string} name */
export function agentName(name) {
  return h("bdi", { class: "name", title: name.length > 60 ? short(name, 400) : null },
    short(name, 60));
}

/** @param {number} n @param {string} one @param {string} [many] */
export function count(n, one, many = `${one}s`) {
  return `${n.toLocaleString("en-GB")} ${n === 1 ? one : many}`;
}

/** Returns a function that runs `what` after this long without another call.
 * @param {number} ms @param {() => void} what */
export function debounce(ms, what) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = Number(setTimeout(what, ms));
  };
}
