// @ts-check
// Copies the link, the position, a picture and the command of what is shown.

import { errorMessage, fill, h } from "./common.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */

/** The width of a copied picture, in pixels. */
const PICTURE_PX = 1200;

/** @param {Viewer} viewer */
export function sharing(viewer) {
  const note = h("span", { role: "status" });
  /** @param {string} title @param {() => Promise<unknown>} act @param {string|null} [kind] */
  const one = (title, act, kind = null) => h("button", {
    type: "button", class: kind,
    onclick: () => {
      fill(note);
      act().then(() => fill(note, "Copied."), (error) => fill(note, errorMessage(error)));
    },
  }, title);
  const text = (/** @type {string} */ words) => navigator.clipboard.writeText(words);
  const { position } = viewer.source;
  const { file } = viewer.store.match;
  const command = () => `referee replay '${file.replaceAll("'", "'\\''")}' --turn ${viewer.frame().turn}`;
  return h("div", { class: "inline", role: "group", "aria-label": "Copy" },
    one("Copy link", () => text(viewer.link())),
    one("Copy picture", () => navigator.clipboard.write([
      new ClipboardItem({ "image/png": picture(viewer.board.svg) }),
    ])),
    position && one("Copy position", async () =>
      text(JSON.stringify(await position(viewer.player.ply))), "of-record"),
    one("Copy command", () => text(command()), "of-record"), note);
}

/** Draws what is shown, in its colours, as PNG. @param {SVGSVGElement} svg @returns {Promise<Blob>} */
async function picture(svg) {
  const { width, height } = svg.viewBox.baseVal;
  const copy = /** @type {SVGSVGElement} */ (svg.cloneNode(true));
  copy.setAttribute("width", String(PICTURE_PX));
  copy.setAttribute("height", String(PICTURE_PX * height / width));
  const { theme } = document.documentElement.dataset;
  if (theme) copy.dataset.theme = theme;
  const rules = [...document.styleSheets].flatMap(({ cssRules }) =>
    [...cssRules].map(({ cssText }) => cssText));
  const style = document.createElementNS(svg.namespaceURI, "style");
  style.textContent = rules.join("");
  copy.prepend(style);
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  const canvas = h("canvas", { width: PICTURE_PX, height: Math.round(PICTURE_PX * height / width) });
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser can't draw");
  context.fillStyle = getComputedStyle(document.body).backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))));
  });
}
