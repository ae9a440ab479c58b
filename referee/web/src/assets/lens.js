// @ts-check
// What is seen of the board: the whole, or an enlarged part that can be moved.

/** @typedef {{x: number, y: number, width: number, height: number}} Box */

/** The largest enlargement, and a step of it. */
const [ZOOM_MOST, ZOOM_STEP] = [8, 1.5];
/** How far a pointer moves before it drags or swipes, in pixels. */
const [DRAG_PX, SWIPE_PX] = [6, 40];
/** How far a wheel turns for a ply, in pixels. */
const WHEEL_PX = 60;

export class Lens {
  /** @param {SVGSVGElement} svg @param {HTMLElement} frame @param {(by: number) => void} step */
  constructor(svg, frame, step) {
    this.svg = svg;
    this.frame = frame;
    this.step = step;
    /** @type {Box} */
    this.whole = { x: 0, y: 0, width: 1, height: 1 };
    this.zoom = 1;
    this.middle = { x: 0, y: 0 };
    /** The pointers that are down. @type {Map<number, {x: number, y: number}>} */
    this.pointers = new Map();
    this.began = { x: 0, y: 0 };
    this.dragged = false;
    this.turned = 0;
    frame.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    frame.addEventListener("pointerdown", (event) => this.down(event));
    frame.addEventListener("pointermove", (event) => this.move(event));
    for (const end of /** @type {("pointerup"|"pointercancel")[]} */ (["pointerup", "pointercancel"])) {
      frame.addEventListener(end, (event) => this.up(event));
    }
    // A drag is no choice of a cell.
    frame.addEventListener("click", (event) => this.dragged && event.stopPropagation(), true);
  }

  /** Shows this whole. @param {Box} whole */
  fit(whole) {
    this.whole = whole;
    this.zoom = 1;
    this.apply();
  }

  /** Enlarges by steps, around a point of the board. @param {number} steps */
  enlarge(steps, at = this.middle) {
    this.scale(ZOOM_STEP ** steps, at);
  }

  /** @param {number} factor @param {{x: number, y: number}} at */
  scale(factor, at) {
    const before = this.zoom;
    this.zoom = Math.max(1, Math.min(ZOOM_MOST, before * factor));
    const share = before / this.zoom;
    this.middle = {
      x: at.x + (this.middle.x - at.x) * share,
      y: at.y + (this.middle.y - at.y) * share,
    };
    this.apply();
  }

  /** Moves the board so that a point of it is seen. @param {{x: number, y: number}} at */
  reveal(at) {
    if (this.zoom === 1) return;
    const far = (/** @type {"x"|"y"} */ axis, /** @type {"width"|"height"} */ side) =>
      Math.abs(at[axis] - this.middle[axis]) > 0.4 * this.whole[side] / this.zoom;
    if (!far("x", "width") && !far("y", "height")) return;
    this.middle = { ...at };
    this.apply();
  }

  apply() {
    const { whole, zoom } = this;
    const [width, height] = [whole.width / zoom, whole.height / zoom];
    const within = (/** @type {number} */ at, /** @type {number} */ from, /** @type {number} */ all,
      /** @type {number} */ part) => Math.max(from + part / 2, Math.min(from + all - part / 2, at));
    this.middle = {
      x: within(this.middle.x, whole.x, whole.width, width),
      y: within(this.middle.y, whole.y, whole.height, height),
    };
    const [left, top] = [this.middle.x - width / 2, this.middle.y - height / 2];
    this.svg.setAttribute("viewBox", `${left} ${top} ${width} ${height}`);
    this.frame.classList.toggle("zoomed", zoom > 1);
  }

  /** The point of the board at a point of the screen. @param {{x: number, y: number}} client */
  at({ x, y }) {
    const matrix = this.svg.getScreenCTM()?.inverse();
    return new DOMPoint(x, y).matrixTransform(matrix);
  }

  /** The wheel steps; with Ctrl, as browsers report a pinch, it enlarges. @param {WheelEvent} event */
  wheel(event) {
    const isScrolling = document.documentElement.scrollHeight > innerHeight;
    if (!event.ctrlKey && isScrolling) return;
    event.preventDefault();
    if (event.ctrlKey) {
      this.scale(Math.exp(-event.deltaY / 100), this.at({ x: event.clientX, y: event.clientY }));
      return;
    }
    this.turned += event.deltaMode ? WHEEL_PX * Math.sign(event.deltaY) : event.deltaY;
    if (Math.abs(this.turned) < WHEEL_PX) return;
    this.step(Math.sign(this.turned));
    this.turned = 0;
  }

  /** @param {PointerEvent} event */
  down(event) {
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (this.pointers.size > 1) return;
    this.began = { x: event.clientX, y: event.clientY };
    this.dragged = false;
  }

  /** @param {PointerEvent} event */
  move(event) {
    const old = this.pointers.get(event.pointerId);
    if (!old) return;
    const now = { x: event.clientX, y: event.clientY };
    const far = Math.hypot(now.x - this.began.x, now.y - this.began.y);
    this.dragged ||= far > DRAG_PX;
    const [other] = [...this.pointers].filter(([id]) => id !== event.pointerId);
    this.pointers.set(event.pointerId, now);
    if (!this.dragged) return;
    if (other) {
      const apart = (/** @type {{x: number, y: number}} */ from) =>
        Math.hypot(from.x - other[1].x, from.y - other[1].y);
      this.scale(apart(now) / Math.max(1, apart(old)), this.at(other[1]));
    } else if (this.zoom > 1) {
      this.frame.setPointerCapture(event.pointerId);
      const [from, to] = [this.at(old), this.at(now)];
      this.middle = { x: this.middle.x + from.x - to.x, y: this.middle.y + from.y - to.y };
      this.apply();
    }
  }

  /** Ends a drag that chose a cell. @param {number} pointer */
  release(pointer) {
    this.pointers.delete(pointer);
    this.dragged = false;
  }

  /** A swipe with one finger steps. @param {PointerEvent} event */
  up(event) {
    const isOnly = this.pointers.size === 1 && this.pointers.delete(event.pointerId);
    this.pointers.delete(event.pointerId);
    const [dx, dy] = [event.clientX - this.began.x, event.clientY - this.began.y];
    const isSwipe = event.type === "pointerup" && event.pointerType === "touch" && isOnly
      && this.zoom === 1 && Math.abs(dx) > SWIPE_PX && Math.abs(dx) > 2 * Math.abs(dy);
    if (isSwipe) this.step(dx < 0 ? 1 : -1);
  }
}
