// @ts-check
// Finds the action that clicks on cells mean.

/** @typedef {import("./types.js").Action} Action */

/** Whether one click plays an action: it places a piece on an empty cell. Actions that begin and end
 * at a piece, such as leaving the board, have a button instead.
 * @param {Action} action @param {(string|null)[]} pieces */
function isPlacement(action, pieces) {
  const [cell] = action.cells;
  return action.cells.length === 1 && cell !== undefined && pieces[cell] === null;
}

/** @param {Action[]} actions @param {number|undefined} cell @param {(string|null)[]} pieces */
function placements(actions, cell, pieces) {
  return actions.filter((action) => isPlacement(action, pieces) && action.cells[0] === cell);
}

/** The cells that can be clicked: pieces that can be chosen, or the targets of the chosen one.
 * @param {Action[]} actions @param {number|null} selected @param {(string|null)[]} pieces */
export function legalFrom(actions, selected, pieces) {
  /** @type {Set<number>} */
  const legal = new Set();
  for (const action of actions) {
    const [first, last] = [action.cells[0], action.cells.at(-1)];
    if (first === undefined || last === undefined) continue;
    if (selected === null || isPlacement(action, pieces)) legal.add(first);
    else if (first === selected && action.cells.length > 1) legal.add(last);
  }
  return legal;
}

/** Actions that need a button: passing, swapping, several placements on one cell, and leaving the
 * board with the chosen piece, or with any while none is chosen.
 * @param {Action[]} actions @param {number|null} selected @param {(string|null)[]} pieces */
export function placeless(actions, selected, pieces) {
  return actions.filter((action) => {
    if (action.cells.length === 0) return true;
    if (action.cells.length > 1) return false;
    if (isPlacement(action, pieces)) return placements(actions, action.cells[0], pieces).length > 1;
    return selected === null || action.cells[0] === selected;
  });
}

/** What a click does: plays an action, chooses a piece, or offers several actions.
 * @param {Action[]} actions @param {number|null} selected @param {number} cell
 * @param {(string|null)[]} pieces
 * @returns {{play: Action|null, selected: number|null, among: Action[]}} */
export function choose(actions, selected, cell, pieces) {
  const placed = placements(actions, cell, pieces);
  if (placed.length > 1) return { play: null, selected: null, among: placed };
  if (placed[0]) return { play: placed[0], selected: null, among: [] };
  if (selected !== null && cell !== selected) {
    const ways = actions.filter(({ cells }) =>
      cells.length > 1 && cells[0] === selected && cells.at(-1) === cell);
    const [only] = ways;
    if (only && ways.length === 1) return { play: only, selected: null, among: [] };
    if (ways.length > 1) return { play: null, selected, among: ways };
  }
  const starts = actions.some(({ cells }) => cells[0] === cell);
  return { play: null, selected: starts && cell !== selected ? cell : null, among: [] };
}
