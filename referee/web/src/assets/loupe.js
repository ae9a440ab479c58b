// @ts-check
// An enlarged part of the board above a finger that rests on it: the finger hides the cell.

import { h } from "./common.js";

/** @typedef {import("./lens.js").Lens} Lens */

/** How long a finger rests before it is shown, in milliseconds. */
const HOLD_MS = 180;
/** How soon after it a click of the same finger comes. */
const CLICK_MS = 50;
/** Its size in pixels, how far above the finger it is, and how much it enlarges. */
const [SIZE_PX, ABOVE_PX, TIMES] = [132, 40, 2.5];

export class Loupe {
  /** @param {Lens} lens @param {() => boolean} isWanted whether a person chooses a cell now */
  constructor(lens, isWanted) {
    this.lens = lens;
    this.isWanted = isWanted;
    this.timer = 0;
    this.finger = { x: 0, y: 0 };
    this.element = h("div", { class: "loupe", hidden: true, "aria-hidden": "true" });
    this.element.inert = true;
    document.body.append(this.element);
    const { frame } = lens;
    // Before the board's own: a finger that chooses neither swipes nor drags.
    frame.addEventListener("pointerdown", (event) => this.down(event), true);
    frame.addEventListener("pointermove", (event) => this.move(event), true);
    frame.addEventListener("pointerup", (event) => this.up(event), true);
    frame.addEventListener("pointercancel", () => this.hide(), true);
    frame.addEventListener("contextmenu", (event) => this.isShown && event.preventDefault());
  }

  get isShown() {
    return !this.element.hidden;
  }

  /** @param {PointerEvent} event */
  down(event) {
    this.hide();
    if (event.pointerType !== "touch" || !event.isPrimary || !this.isWanted()) return;
    this.finger = { x: event.clientX, y: event.clientY };
    this.timer = Number(setTimeout(() => this.begin(), HOLD_MS));
  }

  begin() {
    const copy = /** @type {SVGSVGElement} */ (this.lens.svg.cloneNode(true));
    for (const cell of copy.querySelectorAll("[role], [data-cell]")) {
      for (const name of ["role", "aria-label", "data-cell", "tabindex"]) cell.removeAttribute(name);
    }
    this.element.replaceChildren(copy);
    this.element.hidden = false;
    this.show();
  }

  /** Shows what is under the finger. */
  show() {
    const { x, y } = this.finger;
    const middle = this.lens.at(this.finger);
    const scale = this.lens.svg.getScreenCTM()?.a ?? 1;
    const side = SIZE_PX / (TIMES * Math.abs(scale));
    this.element.firstElementChild?.setAttribute("viewBox",
      `${middle.x - side / 2} ${middle.y - side / 2} ${side} ${side}`);
    const top = y - SIZE_PX - ABOVE_PX;
    this.element.style.left = `${Math.max(4, Math.min(innerWidth - SIZE_PX - 4, x - SIZE_PX / 2))}px`;
    this.element.style.top = `${top > 0 ? top : y + ABOVE_PX}px`;
  }

  /** @param {PointerEvent} event */
  move(event) {
    const far = Math.hypot(event.clientX - this.finger.x, event.clientY - this.finger.y);
    if (!this.isShown) {
      // It moves before it has rested: a swipe.
      if (far > 10) clearTimeout(this.timer);
      return;
    }
    event.stopPropagation();
    this.finger = { x: event.clientX, y: event.clientY };
    this.show();
  }

  /** Chooses the cell where the finger leaves the board, as a tap would. @param {PointerEvent} event */
  up(event) {
    if (!this.isShown) {
      clearTimeout(this.timer);
      return;
    }
    event.stopPropagation();
    this.hide();
    this.lens.release(event.pointerId);
    // A click follows only where the finger began.
    const at = document.elementFromPoint(this.finger.x, this.finger.y)?.closest("[data-cell], [data-of]");
    at?.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 1 }));
    this.lens.frame.addEventListener("click", (click) => click.stopPropagation(),
      { capture: true, once: true, signal: AbortSignal.timeout(CLICK_MS) });
  }

  hide() {
    clearTimeout(this.timer);
    this.element.hidden = true;
    this.element.replaceChildren();
  }
}
