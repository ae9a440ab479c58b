// Every game at its smallest, default and largest size, light and dark: the board is within the window.
// REFEREE_TESTS_SCREENSHOTS=FOLDER stores screenshots.

import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { Server, folder, newPage, play, shows, where } from "./stage.mjs";

const shots = process.env.REFEREE_TESTS_SCREENSHOTS;
const matches = folder();
const server = new Server(matches);
/** Game, setup, number of seats. */
const BOARDS = [
  ["hex", "size=3", 2], ["hex", "size=11", 2], ["hex", "size=26", 2],
  ["chinese-checkers", "size=2", 2], ["chinese-checkers", "seats=3", 3],
  ["chinese-checkers", '{"seats":6,"size":5}', 6],
  ["chexers", "exits=4", 3], ["freckers", "turn_limit=150", 2],
  ["checker-puzzle", '{"size":3,"depth":2}', 1], ["checker-puzzle", "size=4", 1],
  ["checker-puzzle", "size=26", 1],
  ["peg-solitaire", '{"size":4,"open":[[0,0]]}', 1], ["peg-solitaire", "size=5", 1],
  ["peg-solitaire", '{"shape":"diamond","size":12,"open":[[5,5]]}', 1],
];
const name = ([game, setup]) => `${game}-${setup.replace(/\W+/g, "")}`;

before(async () => {
  for (const board of BOARDS) {
    const [game, setup, seats] = board;
    const agents = new Array(seats).fill("@random");
    play(matches, `${name(board)}.jsonl`, [game, ...agents, "--setup", setup, "--seed", "1"]);
  }
  await server.start();
});

for (const board of BOARDS) {
  test(`${name(board)} in light and dark`, async () => {
    const { page, fine } = await newPage({ viewport: { width: 1366, height: 860 } });
    await page.goto(server.match(`${name(board)}.jsonl`, "#ply=1"));
    await shows(page, 1);
    const [, last] = await where(page);
    const middle = Math.ceil(last / 2);
    await page.getByRole("slider", { name: "Ply" }).fill(String(middle));
    await shows(page, middle);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      const { x, y, width, height } = await page.locator(".board-frame").boundingBox();
      assert.ok(x >= 0 && y >= 0 && x + width <= 1366 && y + height <= 860, `${width}x${height}`);
      const path = join(shots ?? matches, `${name(board)}-${colorScheme}.png`);
      if (shots) await page.screenshot({ path });
    }
    await fine();
  });
}
