// Matches as boards: the lists of the home page and of a contest, and the page for a projector.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PROGRAM, SLOW, Server, folder, newPage, pause, play } from "./stage.mjs";

const dir = folder();
const server = new Server(dir);
before(async () => {
  writeFileSync(join(dir, "slow.py"), SLOW);
  play(dir, "one.jsonl", ["hex", "ada=@greedy", "bert=@first", "--setup", "size=4", "--seed", "3"]);
  play(dir, "two.jsonl", ["hex", "bert=@greedy", "ada=@crash", "--setup", "size=5", "--seed", "3"]);
  play(dir, "three.jsonl", ["freckers", "ada=@greedy", "cleo=@first", "--seed", "3"]);
  writeFileSync(join(dir, "openings.jsonl"), "{\"size\":3}\n");
  const args = ["contest", "run", "cup.toml", "--out", "cup", "--quiet"];
  writeFileSync(join(dir, "cup.toml"), "seed = 1\nagents = [\"@first\", \"@greedy\"]\n"
    + "[[games]]\ngame = \"hex\"\nsetup = { size = 4 }\n");
  const done = spawnSync(PROGRAM, args, { cwd: dir, encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  await server.start();
});

/** Waits until this many boards are drawn. */
const drawn = (page, selector, count) => page.waitForFunction(([wanted, many]) => {
  const images = [...document.querySelectorAll(wanted)];
  return images.length === many && images.every((image) => image.complete && image.naturalWidth > 0);
}, [selector, count]);

test("matches are boards, found by words, or a list", async () => {
  const { page, fine } = await newPage();
  await page.goto(`${server.url}/`);
  await drawn(page, "#matches .thumbnail", 3);
  const find = page.getByRole("searchbox");
  for (const [words, count] of [["hex", 2], ["ada wins hex", 1], ["ada loses", 1], ["size=5 gone", 1],
    ["freckers cleo", 1], ["bert wins freckers", 0]]) {
    await find.fill(words);
    await page.waitForFunction((many) =>
      document.querySelectorAll("#matches .match-card").length === many, count);
  }
  await find.fill("");
  await page.getByRole("button", { name: "List" }).click();
  await page.waitForFunction(() => document.querySelectorAll("#matches .match-row").length === 3);
  // The choice is kept, and holds for contests.
  await page.goto(`${server.url}/contest?folder=cup`);
  await page.locator("#games .match-row").first().waitFor();
  await page.getByRole("button", { name: "Boards" }).click();
  await drawn(page, "#games .thumbnail", 2);
  // They follow the page's colours.
  const areDark = (dark) => drawn(page, `#games .thumbnail[src*="dark=${dark}"]`, 2);
  await areDark(false);
  await page.emulateMedia({ colorScheme: "dark" });
  await areDark(true);
  await page.getByRole("button", { name: "Theme" }).click();
  await areDark(false);
  await fine();
});

test("a live match is followed on the screen for a projector, and its end is shown", async () => {
  mkdirSync(join(dir, "gate"));
  const gate = join(dir, "gate", "turn");
  writeFileSync(gate, "3");
  const args = ["play", "hex", `slow=python3 slow.py 0 ${gate}`, "@first", "--setup", "size=5", "--clock", "1h",
    "--start-time", "3m", "--quiet", "--out", "live.jsonl"];
  const child = spawn(PROGRAM, args, { cwd: dir, stdio: "ignore" });
  after(() => child.kill("SIGKILL"));
  const path = join(dir, "live.jsonl");
  while (!existsSync(path) || !readFileSync(path, "utf8").includes('"played"')) await pause(20);
  const { page, fine } = await newPage();
  await page.goto(`${server.url}/tv?boards=1`);
  await drawn(page, ".tv-board", 1);
  await page.locator(".tv-slot", { hasText: "slow" }).waitFor();
  const before = await page.locator(".tv-board").getAttribute("src");
  writeFileSync(gate, "7");
  await page.waitForFunction((old) =>
    document.querySelector(".tv-board")?.getAttribute("src") !== old, before);
  writeFileSync(gate, "1000");
  await page.locator(".tv-result", { hasText: "wins" }).waitFor();
  await fine();
});

test("a contest without live matches shows its last ones and the standings", async () => {
  const { page, fine } = await newPage();
  await page.goto(`${server.url}/tv?folder=cup`);
  await drawn(page, ".tv-board", 2);
  await page.locator("#ticker", { hasText: "1. @" }).waitFor();
  const height = await page.evaluate(() => document.documentElement.scrollHeight <= window.innerHeight);
  assert.ok(height, "everything fits the window");
  await fine();
});
