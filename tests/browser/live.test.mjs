// Live matches: to their end, over a lost connection, and while a page steps back.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  PROGRAM, SLOW, Server, folder, newPage, pause, pieces, play, shows, where,
} from "./stage.mjs";

const matches = folder();
/** Later than any turn. */
const END = 1000;
const server = new Server(matches);

before(async () => {
  writeFileSync(join(matches, "slow.py"), SLOW);
  await server.start();
});

/** Starts a slow match and waits for its first turn. The match waits at `turn` until the returned
 * function is called with a later one. */
async function begin(file, seconds, turn) {
  // In a folder of its own, which the agent may be shown.
  mkdirSync(join(matches, `${file}.gate`));
  const gate = join(matches, `${file}.gate`, "turn");
  const playUntil = (to) => writeFileSync(gate, String(to));
  playUntil(turn);
  const players = [`python3 slow.py ${seconds} ${gate}`, "@first"];
  const args = ["play", "hex", ...players, "--setup", "size=5", "--clock", "1h", "--start-time", "3m",
    "--quiet", "--out", file];
  const child = spawn(PROGRAM, args, { cwd: matches, stdio: "ignore" });
  after(() => child.kill("SIGKILL"));
  const path = join(matches, file);
  while (!existsSync(path) || !readFileSync(path, "utf8").includes('"played"')) await pause(20);
  return playUntil;
}

/** Waits until the match is over. */
async function over(page) {
  await page.waitForFunction(() => /wins/.test(document.querySelector("#result")?.textContent ?? ""));
}

test("a code lets one browser in, which then follows matches", async () => {
  const token = join(matches, "token");
  writeFileSync(token, "open-sesame");
  const guarded = await new Server(matches, ["--token-file", token]).start();
  const playUntil = await begin("guarded.jsonl", 0.1, 4);
  const { page, fine } = await newPage();
  await page.goto(guarded.url);
  await page.reload();
  assert.equal(new URL(page.url()).search, "");
  await page.goto(new URL("/match?file=guarded.jsonl", guarded.url).href);
  await page.locator("#result", { hasText: "running" }).waitFor();
  playUntil(END);
  await over(page);
  await fine();
  const other = await newPage();
  assert.equal((await other.page.goto(guarded.url))?.status(), 401);
});

test("a live match is followed to its end, and its clock runs", async () => {
  const { page, fine } = await newPage();
  const playUntil = await begin("followed.jsonl", 0.5, 8);
  await page.goto(server.match("followed.jsonl"));
  await page.locator("#result", { hasText: "running" }).waitFor();
  const clocks = () => page.locator(".seat-time").allTextContents();
  const then = await clocks();
  await page.waitForFunction(
    (old) => [...document.querySelectorAll(".seat-time")].some((one, at) => one.textContent !== old[at]),
    then,
  );
  await page.getByRole("button", { name: "Turn", exact: true }).click();
  const note = page.locator(".output", { hasText: "a note" });
  await note.waitFor();
  playUntil(END);
  await over(page);
  assert.match(await note.locator("figcaption").textContent(), /turn 2$/);
  const [ply, last] = await where(page);
  assert.equal(ply, last);
  const followed = await pieces(page);
  assert.ok(followed.length >= 9, `${followed.length} pieces`);
  await page.goto("about:blank");
  await page.goto(server.match("followed.jsonl", `#ply=${last}`));
  await shows(page, last);
  assert.deepEqual(await pieces(page), followed);
  await fine();
});

test("a lost connection is shown, and continues where it broke", async () => {
  const { page, fine } = await newPage({}, ["Failed to load resource", "ERR_"]);
  const playUntil = await begin("broken.jsonl", 0.6, 8);
  await page.goto(server.match("broken.jsonl"));
  await page.locator("#result", { hasText: "running" }).waitFor();
  await server.stop();
  await page.getByText("Connection lost").waitFor();
  const [, before] = await where(page);
  await pause(1000);
  await server.start();
  await page.getByText("Connection lost").waitFor({ state: "hidden" });
  playUntil(END);
  await over(page);
  const [ply, last] = await where(page);
  assert.equal(ply, last);
  assert.ok(last > before, `${last} plies, ${before} before`);
  const followed = await pieces(page);
  await page.goto("about:blank");
  await page.goto(server.match("broken.jsonl", `#ply=${last}`));
  await shows(page, last);
  assert.deepEqual(await pieces(page), followed);
  await fine();
});

test("new plies don't move a page that stepped back, and one button leads to the end", async () => {
  const { page, fine } = await newPage();
  const playUntil = await begin("stepped.jsonl", 0.5, 2);
  await page.goto(server.match("stepped.jsonl"));
  await page.locator("#result", { hasText: "running" }).waitFor();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await shows(page, 1);
  const [, then] = await where(page);
  const board = await pieces(page);
  playUntil(12);
  await page.waitForFunction(
    (old) => Number(document.querySelector(".where")?.textContent?.split("/")[1]) > old + 1,
    then,
  );
  assert.equal((await where(page))[0], 1);
  assert.deepEqual(await pieces(page), board);
  await page.getByRole("button", { name: "Go to the live position" }).click();
  const [ply, last] = await where(page);
  assert.ok(ply >= last - 1, `${ply} of ${last}`);
  playUntil(END);
  await over(page);
  const [end, all] = await where(page);
  assert.equal(end, all);
  await fine();
});

test("a game that is played again under the same name is followed again", async () => {
  // As from a worker that replaces a lost one.
  const begun = (name, agent) => {
    play(matches, "whole.jsonl", ["hex", agent, "@first", "--setup", "size=5", "--force"]);
    const whole = readFileSync(join(matches, "whole.jsonl"), "utf8");
    writeFileSync(join(matches, name), whole.split("\n").slice(0, 8).join("\n") + "\n");
  };
  begun("again.jsonl", "@random");
  begun("next", "@greedy");
  begun("third", "@minimax");
  const replaceBy = (next) => renameSync(join(matches, next), join(matches, "again.jsonl"));
  const { page, fine } = await newPage();
  const follows = page.waitForResponse(/api\/follow/);
  await page.goto(server.match("again.jsonl"));
  await follows;
  const name = (text) => page.locator(".name", { hasText: text });
  await name("@random").first().waitFor();
  // The next page's match is replaced before it can follow it.
  await page.route(/api\/follow/, async (route) => {
    replaceBy("third");
    await route.continue();
  }, { times: 1 });
  replaceBy("next");
  await name("@minimax").first().waitFor();
  await page.locator("#result", { hasText: "running" }).waitFor();
  assert.equal(await name("@random").count() + await name("@greedy").count(), 0);
  await fine();
});
