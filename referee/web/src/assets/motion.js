// @ts-check
// Pieces that move to where they are, along their path.

/** How long a move takes, and how soon after another change there is none, in milliseconds. */
const [MOVE_MS, QUICK_MS] = [180, 240];

let changedAt = -QUICK_MS;

/** Whether a change now may be animated. */
export function mayMove() {
  const now = performance.now();
  const isQuick = now - changedAt < QUICK_MS;
  changedAt = now;
  return !isQuick && !matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Moves a piece along these places; the last is its own. A piece without a path appears.
 * @param {Element} piece @param {{x: number, y: number}[]} path */
export function animate(piece, path) {
  const end = path.at(-1);
  if (!end) return;
  const frames = path.length > 1
    ? path.map(({ x, y }) => ({ transform: `translate(${x - end.x}px, ${y - end.y}px)` }))
    : [{ opacity: 0 }, { opacity: 1 }];
  piece.animate(frames, { duration: MOVE_MS, easing: "ease-in-out" });
}
