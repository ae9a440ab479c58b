// The room for the board: sizes of cells, nothing cut, and nothing that moves from ply to ply.

import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { Server, folder, newPage, pause, play, shows, where } from "./stage.mjs";

const shots = process.env.REFEREE_TESTS_SCREENSHOTS;
const matches = folder();
const server = new Server(matches);
const GAMES = [
  ["hex", '{"size":11}', 2], ["hex", '{"size":26}', 2],
  ["chinese-checkers", '{"seats":2,"max_turns":40}', 2],
  ["chinese-checkers", '{"seats":3,"max_turns":40}', 3],
  ["chinese-checkers", '{"seats":6,"max_turns":40}', 6],
  ["chexers", "{}", 3], ["freckers", "{}", 2],
  ["checker-puzzle", "{}", 1], ["peg-solitaire", "{}", 1],
];
// The last is the first at 200 %.
const SIZES = [[1366, 657], [1440, 900], [768, 1024], [360, 740], [740, 360], [683, 328]];
const name = ([game, setup]) => `${game}-${setup.replace(/\W+/g, "")}`;

before(async () => {
  for (const game of GAMES) {
    const agents = new Array(game[2]).fill("@random");
    play(matches, `${name(game)}.jsonl`, [game[0], ...agents, "--setup", game[1], "--seed", "1"]);
  }
  await server.start();
});

/** The distance between a cell's flat sides, in pixels. */
const cellSize = (page) => page.locator("[data-cell='0']").evaluate((cell) => {
  const { width, height } = cell.getBoundingClientRect();
  return Math.min(width, height);
});

for (const [hash, width, height, least] of [
  ["", 1366, 657, 26], ["#flat=1", 1366, 657, 34], ["", 1440, 900, 36], ["#flat=1", 1440, 900, 44],
  ["", 360, 740, 16], ["", 740, 360, 16], ["#flat=1", 740, 360, 16],
]) {
  test(`a cell of Hex has ${least} pixels at ${width}x${height} ${hash}`, async (t) => {
    const { page, fine } = await newPage({ viewport: { width, height } });
    await page.goto(server.match(`${name(GAMES[0])}.jsonl`, hash));
    await page.locator(".where").waitFor();
    const size = await cellSize(page);
    t.diagnostic(`${size.toFixed(1)} pixels`);
    assert.ok(size >= least, `${size}`);
    await fine();
  });
}

/** Two frames, so that everything is laid out and reported. */
const settled = (page) => page.evaluate(() => new Promise((resolve) => {
  requestAnimationFrame(() => requestAnimationFrame(resolve));
}));

for (const game of GAMES) {
  test(`${name(game)}: the whole board at every size, and nothing moves`, async () => {
    const { page, fine } = await newPage();
    await page.goto(server.match(`${name(game)}.jsonl`, "#ply=0"));
    await shows(page, 0);
    const [, last] = await where(page);
    const to = async (ply) => {
      await page.getByRole("slider", { name: "Ply" }).fill(String(ply));
      await shows(page, ply);
    };
    for (const [width, height] of SIZES) {
      await page.setViewportSize({ width, height });
      // Rows that aren't seen keep the layout of the size before until they are: load them again.
      await page.reload();
      await to(0);
      await pause(300);
      await page.evaluate(() => {
        window.moved = [];
        new PerformanceObserver((list) => {
          const nodes = list.getEntries().flatMap(({ sources }) => sources.map(({ node }) => node));
          window.moved.push(...nodes.map((node) => node?.className || node?.textContent || "?"));
        }).observe({ type: "layout-shift" });
      });
      const steps = Math.min(last, 5);
      for (let ply = 1; ply <= steps; ply += 1) {
        await page.keyboard.press("ArrowRight");
        await settled(page);
      }
      for (const ply of [Math.ceil(last / 2), last]) await to(ply);
      await settled(page);
      const { moved, cut, wide, outside, column } = await page.evaluate(() => {
        const board = document.querySelector("svg.board .turn").getBoundingClientRect();
        const [right, bottom] = [board.right - innerWidth, board.bottom - innerHeight];
        const all = document.documentElement;
        const beside = document.querySelector(".beside");
        const outside = [...document.querySelectorAll(".controls :is(button, select, input)")].filter((control) => {
          const { left, right } = control.getBoundingClientRect();
          return left < 0 || right > innerWidth;
        });
        return {
          outside: outside.map(({ title }) => title), column: beside.scrollWidth - beside.clientWidth,
          moved: window.moved.map(String), wide: all.scrollWidth - all.clientWidth,
          cut: Math.max(-board.left, -board.top, right, bottom),
        };
      });
      const size = `${width}x${height}`;
      assert.deepEqual(moved, [], `${size}: something moved`);
      assert.ok(cut <= 0, `${size}: ${cut} pixels of the board are outside of the window`);
      assert.deepEqual(outside, [], `${size}: controls outside of the window`);
      assert.ok(column <= 0, `${size}: the column is ${column} pixels too wide`);
      assert.ok(wide <= 0, `${size}: the page is ${wide} pixels too wide`);
      for (const colorScheme of shots ? ["light", "dark"] : []) {
        await page.emulateMedia({ colorScheme });
        for (const ply of [0, Math.ceil(last / 2), last]) {
          await to(ply);
          await page.screenshot({ path: join(shots, `${name(game)}-${size}-${ply}-${colorScheme}.png`) });
        }
      }
    }
    await fine();
  });
}

test("the board is enlarged and moved; a wheel steps", async () => {
  const { page, fine } = await newPage({ viewport: { width: 1366, height: 657 } });
  await page.goto(server.match(`${name(GAMES[1])}.jsonl`, "#ply=10"));
  await shows(page, 10);
  const whole = await cellSize(page);
  for (let times = 0; times < 2; times += 1) {
    await page.getByRole("button", { name: "Larger board" }).click();
  }
  assert.ok(await cellSize(page) > 2 * whole);
  const board = await page.locator(".board-frame").boundingBox();
  const [x, y] = [board.x + board.width / 2, board.y + board.height / 2];
  const left = () => page.locator("[data-cell='300']").evaluate((cell) => cell.getBoundingClientRect().x);
  const before = await left();
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 40, y, { steps: 5 });
  await page.mouse.up();
  assert.ok(Math.abs(await left() - before + 40) < 3, `${before} to ${await left()}`);
  await page.keyboard.press("Shift+Z");
  assert.equal(await cellSize(page), whole);
  await page.mouse.wheel(0, 100);
  await shows(page, 11);
  await page.mouse.wheel(0, -100);
  await shows(page, 10);
  await fine();
});

test("a step moves the piece along its path, unless steps are quick or motion is unwanted", async () => {
  for (const [reducedMotion, moving] of [["no-preference", 1], ["reduce", 0]]) {
    const { page, fine } = await newPage({ reducedMotion });
    await page.goto(server.match(`${name(GAMES[2])}.jsonl`, "#ply=0"));
    await shows(page, 0);
    const count = (presses) => page.evaluate((presses) => {
      for (let press = 0; press < presses; press += 1) {
        document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
      }
      return document.getAnimations().filter(({ effect }) => effect?.target?.closest("svg.board")).length;
    }, presses);
    await pause(300);
    assert.equal(await count(1), moving, reducedMotion);
    assert.ok(await count(2) <= moving, "a quick step has no motion");
    await fine();
  }
});
