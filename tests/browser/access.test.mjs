// Accessibility of every page: axe, narrow windows, large text, and names with markup.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { PROGRAM, Server, assertAccessible, folder, newPage, play, rename, shows } from "./stage.mjs";

const matches = folder();
const server = new Server(matches);

const MARKUP = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
/** An agent that sends markup in every text. */
const WRITES = `
import json, sys
markup = ${JSON.stringify(MARKUP)} + "\\u202e\\u2066" + "x" * 10000
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "name": markup[:60], "want": ["actions"]}), flush=True)
    elif message["type"] == "turn":
        print(markup, file=sys.stderr, flush=True)
        thought = {"type": "info", "score": 1, "text": markup, "pv": markup,
                   "cells": [{"at": [0, 0], "label": markup}]}
        print(json.dumps(thought), flush=True)
        print(json.dumps({"type": "action", "action": message["actions"][-1]}), flush=True)
`;
const NAME = `${MARKUP}\u202e\u2066 name`;

before(async () => {
  writeFileSync(join(matches, "writes.py"), WRITES);
  play(matches, "hostile.jsonl", ["hex", "python3 writes.py", "@random", "--setup", "size=5"]);
  rename(join(matches, "hostile.jsonl"), [NAME, "W".repeat(1000)]);
  play(matches, "star.jsonl", [
    "chinese-checkers", ..."@greedy ".repeat(6).trim().split(" "), "--setup", "seats=6", "--seed", "1",
  ]);
  play(matches, "large.jsonl", ["hex", "@greedy", "@random", "--setup", "size=26", "--seed", "1"]);
  writeFileSync(join(matches, "contest.toml"), [
    'name = "cup"', 'seed = 1', 'format = "round-robin"', "rounds = 1",
    "[[games]]", 'game = "hex"', "setup = { size = 4 }",
    "[[agents]]", 'name = "<b>first</b>"', 'run = "@first"',
    "[[agents]]", 'name = "random"', 'run = "@random"', "",
  ].join("\n"));
  contest(matches);
  await server.start();
});

/** Plays a small contest. */
function contest(into) {
  const args = ["contest", "run", "contest.toml", "--out", "cup", "--quiet"];
  const done = spawnSync(PROGRAM, args, { cwd: into, encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
}

const PAGES = [
  ["home page", () => `${server.url}/`, "#matches .match-card"],
  ["contest", () => `${server.url}/contest?folder=cup`, "#games .match-card"],
  ["side by side", () => `${server.url}/compare?a=star.jsonl&b=star.jsonl`, ".compare-side"],
  ["projector", () => `${server.url}/tv?folder=cup`, ".tv-slot"],
  ["hostile match", () => server.match("hostile.jsonl", "#ply=1&pane=turn"), ".output pre"],
  ["six seats", () => server.match("star.jsonl", "#ply=40"), ".seat"],
  ["large board", () => server.match("large.jsonl", "#ply=40"), ".seat"],
  ["what if, wood", () => server.match("star.jsonl", "#ply=40&pane=whatif&theme=wood"), ".explored table"],
  ["graph, slate", () => server.match("hostile.jsonl", "#ply=1&pane=scores&theme=slate"), ".graph"],
  ["more", () => server.match("star.jsonl", "#pane=more"), ".downloads"],
  ["report", () => `${server.url}/files/cup/report.html`, "h1"],
];

for (const [name, url, there] of PAGES) {
  test(`axe finds nothing, and nothing overflows: ${name}`, async () => {
    // The page's policy would refuse axe.
    // The report names no icon.
    const { page, fine } = await newPage({ bypassCSP: true }, name === "report" ? ["404"] : []);
    await page.goto(url());
    await page.locator(there).first().waitFor();
    const { width, height } = page.viewportSize();
    for (const [size, narrow] of [["a phone", 360], ["text at 200 %", width / 2]]) {
      await page.setViewportSize({ width: narrow, height });
      const [wide, room] = await page.evaluate(() =>
        [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
      assert.ok(wide <= room, `${size}: ${wide} pixels in ${room}`);
    }
    await page.setViewportSize({ width, height });
    for (const closed of await page.locator("summary").all()) {
      if (await closed.isVisible()) await closed.click();
    }
    await assertAccessible(page);
    await fine();
  });
}

test("names and output are shown as text", async () => {
  const { page, fine } = await newPage();
  for (const [, url, there] of PAGES.slice(0, 5)) {
    await page.goto(url());
    await page.locator(there).first().waitFor();
    assert.equal(await page.locator("main img:not(.thumbnail, .tv-board), main script, main b").count(), 0);
  }
  await shows(page, 1);
  assert.ok((await page.locator("#title").textContent()).includes("<img src=x"));
  assert.ok((await page.locator(".output pre").first().textContent()).startsWith(MARKUP));
  assert.ok((await page.locator(".said").first().textContent()).startsWith(MARKUP));
  await page.goto(`${server.url}/contest?folder=cup`);
  await page.locator("#standings bdi", { hasText: "<b>first</b>" }).first().waitFor();
  await page.locator("#games select").selectOption("<b>first</b>");
  await page.getByLabel("lost by this agent").check();
  await page.locator("#games .match-card, #games .none").first().waitFor();
  const options = await page.locator("#games select option").allTextContents();
  assert.deepEqual(options.sort(), ["<b>first</b>", "all agents", "random"]);
  await fine();
});
