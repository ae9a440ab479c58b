// The file that `replay export` writes: opened from disk, with no network.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { PROGRAM, folder, newPage, pieces, play, rename, shows } from "./stage.mjs";

const matches = folder();
const file = join(matches, "match.html");

before(() => {
  play(matches, "match.jsonl", ["hex", "@first", "@random", "--seed", "1"]);
  rename(join(matches, "match.jsonl"), ["</script><b>x</b>", "@random"]);
  const args = ["replay", "export", "match.jsonl", "--out", file];
  const done = spawnSync(PROGRAM, args, { cwd: matches, encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
});

test("an exported match opens from disk and steps, offline", async () => {
  const { page, fine } = await newPage({ offline: true });
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  const url = pathToFileURL(file).href;
  await page.goto(`${url}#ply=3`);
  await shows(page, 3);
  assert.equal((await pieces(page)).length, 3);
  await page.keyboard.press("ArrowRight");
  await shows(page, 4);
  await page.getByRole("button", { name: "Last ply" }).click();
  assert.ok((await page.locator("#result").textContent()).includes("wins"));
  assert.ok((await page.locator("#title").textContent()).includes("</script><b>x</b>"));
  assert.deepEqual(asked.filter((other) => !other.startsWith(url)), []);
  await fine();
});

test("a match in a frame of another page plays by itself", async () => {
  const { page, fine } = await newPage({ offline: true });
  const course = join(matches, "course.html");
  const frame = '<iframe src="match.html#ply=2&amp;autoplay&amp;loop"></iframe>';
  writeFileSync(course, `<!doctype html><title>course</title>${frame}`);
  await page.goto(pathToFileURL(course).href);
  await page.frameLocator("iframe").getByRole("button", { name: "Pause" }).waitFor();
  await fine();
});

test("games of a report that is read from disk open as replays", async () => {
  const args = ["contest", "quick", "--game", "hex", "--setup", "size=4", "@first", "@random", "--games", "2", "--out", "cup"];
  const done = spawnSync(PROGRAM, args, { cwd: matches, encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  const { page, fine } = await newPage({ offline: true });
  await page.goto(pathToFileURL(join(matches, "cup", "report.html")).href);
  await page.getByRole("link", { name: "1", exact: true }).click();
  await page.locator("#result", { hasText: "wins" }).waitFor();
  await page.keyboard.press("Home");
  await shows(page, 0);
  await page.getByRole("link", { name: "Standings" }).click();
  await page.getByRole("heading", { name: "Standings" }).waitFor();
  await fine();
});
