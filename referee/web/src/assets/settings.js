// @ts-check
// The settings of the viewer: stored in the browser, and in the address, which has priority.

/** @typedef {"flip"|"flat"|"coords"|"marks"} Switch */
/** @typedef {Record<Switch, boolean> & {theme: string, pane: string, speed: number}} Settings */

export const SPEEDS = [0.5, 1, 2, 4, 8, 16];
export const THEMES = ["auto", "light", "dark", "wood", "slate"];
const PANES = ["moves", "turn", "scores", "whatif", "more"];
/** @type {Switch[]} */
const SWITCHES = ["flip", "flat", "coords", "marks"];
/** @type {Settings} */
const DEFAULTS = {
  flip: false, flat: false, coords: true, marks: true, theme: "auto", pane: "moves", speed: 1,
};
const STORAGE_KEY = "referee";

/** @param {unknown} given @returns {Settings} */
function checked(given) {
  const settings = { ...DEFAULTS };
  if (typeof given !== "object" || given === null) return settings;
  const from = /** @type {Record<string, unknown>} */ (given);
  for (const name of SWITCHES) {
    const value = from[name];
    if (typeof value === "boolean") settings[name] = value;
  }
  if (THEMES.includes(String(from.theme))) settings.theme = String(from.theme);
  if (PANES.includes(String(from.pane))) settings.pane = String(from.pane);
  if (SPEEDS.includes(Number(from.speed))) settings.speed = Number(from.speed);
  return settings;
}

/** @returns {Settings} */
function saved() {
  try {
    return checked(JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "null"));
  } catch {
    return { ...DEFAULTS };
  }
}

/** Stores the settings, if the browser allows it.
 * @param {Settings} settings */
export function save(settings) {
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(settings));
  } catch {
    // Private windows and files opened from disk may have no storage.
  }
}

/** Reads an address: `#ply=17&flip=1&coords=1&theme=dark`.
 * @param {string} hash @param {Settings} [base]
 * @returns {{settings: Settings, ply: number|null, turn: number|null, fault: boolean, tried: string|null,
 *   autoplay: boolean, loop: boolean}} */
export function fromHash(hash, base = saved()) {
  const asked = new URLSearchParams(hash.replace(/^#/, ""));
  /** @type {Record<string, unknown>} */
  const given = { ...base };
  for (const name of SWITCHES) {
    const value = asked.get(name);
    if (value !== null) given[name] = value !== "0";
  }
  for (const name of ["theme", "pane", "speed"]) {
    const value = asked.get(name);
    if (value !== null) given[name] = value;
  }
  const settings = checked({ ...given, speed: Number(given.speed) });
  const number = (/** @type {string} */ name) => {
    const text = asked.get(name);
    return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
  };
  const [ply, turn] = [number("ply"), number("turn")];
  const [fault, tried] = [asked.has("fault"), asked.get("try")];
  return { settings, ply, turn, fault, tried, autoplay: asked.has("autoplay"), loop: asked.has("loop") };
}

/** The address of a ply with the settings that differ from the defaults.
 * @param {Settings} settings @param {number|null} ply @param {string|null} [tried] the branch */
export function toHash(settings, ply, tried = null) {
  const parts = ply === null ? [] : [`ply=${ply}`];
  if (tried) parts.push(`try=${encodeURIComponent(tried)}`);
  for (const name of SWITCHES) {
    if (settings[name] !== DEFAULTS[name]) parts.push(`${name}=${settings[name] ? 1 : 0}`);
  }
  for (const name of /** @type {("theme"|"pane"|"speed")[]} */ (["theme", "pane", "speed"])) {
    if (settings[name] !== DEFAULTS[name]) parts.push(`${name}=${settings[name]}`);
  }
  return parts.length ? `#${parts.join("&")}` : "";
}

/** Whether the page is dark now. */
export function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme ? ["dark", "slate"].includes(theme) : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** @param {string} theme */
export function useTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  recolour();
}

/** Has the server draw the pictures of matches in the page's colours. */
function recolour() {
  for (const image of document.querySelectorAll("img")) {
    const source = new URL(image.src, location.href);
    if (!source.searchParams.has("dark")) continue;
    source.searchParams.set("dark", String(isDark()));
    image.src = source.pathname + source.search;
  }
}

/** A button that switches between the themes.
 * @param {Settings} settings @param {() => void} [changed] */
export function themeButton(settings, changed) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  const update = () => {
    button.textContent = {
      auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark", wood: "▤ Wood", slate: "▦ Slate",
    }[settings.theme] ?? "";
    button.setAttribute("aria-label", `Theme: ${settings.theme}`);
    useTheme(settings.theme);
  };
  button.addEventListener("click", () => {
    const next = (THEMES.indexOf(settings.theme) + 1) % THEMES.length;
    settings.theme = THEMES[next] ?? "auto";
    update();
    save(settings);
    changed?.();
  });
  update();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  return button;
}
