// Other actions than the recorded ones: by clicks, from a link, from an agent, and a match from there.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { Server, folder, newPage, play } from "./stage.mjs";

const dir = folder();
const server = new Server(dir);
before(async () => {
  play(dir, "hex.jsonl", ["hex", "@first", "@random", "--setup", "size=5", "--seed", "3"]);
  play(dir, "star.jsonl", ["chinese-checkers", "@greedy", "@greedy", "--seed", "3"]);
  // Before the server lists the folder: it reuses a list for a second.
  play(dir, "again.jsonl", ["hex", "@first", "@first", "--setup", "size=5"]);
  await server.start();
});

const cell = (page, name) => page.locator(`[role=gridcell][aria-label^="${name},"]`);
const pane = (page) => page.getByRole("region", { name: "What if" });
const back = (page) => page.getByRole("button", { name: "Back to the game" });

test("a click plays another action, and the link carries it", async () => {
  const { page, fine } = await newPage();
  await page.goto(`${server.url}/match?file=hex.jsonl#ply=2`);
  await cell(page, "e5").waitFor();
  const recorded = await page.locator(".move").count();
  await cell(page, "e5").click();
  await pane(page).getByText("What if: 1 move after move 2 of the game.").waitFor();
  await cell(page, "e4").click();
  await pane(page).getByText("What if: 2 moves after move 2 of the game.").waitFor();
  assert.match(await cell(page, "e5").getAttribute("aria-label"), /black piece/);
  assert.match(await cell(page, "e4").getAttribute("aria-label"), /red piece/);
  assert.equal(await page.locator(".tried").count(), 2);
  // From its middle, the branch can go another way.
  await page.locator(".steps button").nth(2).click();
  await cell(page, "d5").click();
  await page.waitForURL(/try=2%3Be5%3Bd5/);
  const link = page.url();
  await page.keyboard.press("b");
  await back(page).waitFor({ state: "hidden" });
  assert.equal(await page.locator(".move").count(), recorded);
  assert.match(await cell(page, "e5").getAttribute("aria-label"), /empty/);
  await page.waitForURL((url) => !url.hash.includes("try="));
  await page.goto("about:blank");
  await page.goto(link);
  await pane(page).getByText("What if: 2 moves after move 2 of the game.").waitFor();
  assert.match(await cell(page, "d5").getAttribute("aria-label"), /red piece/);
  await fine();
});

test("the rules end a branch, and an illegal link says so", async () => {
  const { page, fine } = await newPage();
  const fill = ["a5", "b5", "c5", "d5", "e5"];
  await page.goto(`${server.url}/match?file=hex.jsonl#ply=0&try=0;${
    fill.map((name, at) => (at < 4 ? `${name};${"abcd"[at]}1` : name)).join(";")}`);
  await pane(page).getByText("wins: it connected its two sides").waitFor();
  await fine();
  const { page: other } = await newPage();
  await other.goto(`${server.url}/match?file=hex.jsonl#ply=0&try=0;zz`);
  await pane(other).getByText("can't be played").waitFor();
});

test("the pane shows what was played in the position elsewhere", async () => {
  const { page, fine } = await newPage();
  await page.goto(`${server.url}/match?file=hex.jsonl#ply=0&pane=whatif`);
  await pane(page).getByText(/2 of the \d matches of this folder reached it/).waitFor();
  await back(page).waitFor({ state: "hidden" });
  const move = pane(page).getByRole("table").getByRole("button", { name: "a1" });
  // The recorded move is no branch.
  await move.click();
  await page.waitForURL(/ply=1/);
  assert.ok(!page.url().includes("try="));
  await page.goto(`${server.url}/match?file=hex.jsonl#ply=0&pane=whatif&try=0;a1;b1`);
  await pane(page).getByText(/1 of the \d matches of this folder reached it/).waitFor();
  await pane(page).getByText("1 match", { exact: true }).click();
  await pane(page).getByRole("link", { name: /first/ }).click();
  await page.waitForURL(/again.jsonl#ply=2/);
  await fine();
});

test("a cell with a mark is clicked, too", async () => {
  writeFileSync(join(dir, "marks.py"), `
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "want": ["actions"]}), flush=True)
    elif message["type"] == "turn":
        marks = [{"at": [1, 1], "label": 0.25}, {"at": [2, 2], "label": 0.75}]
        print(json.dumps({"type": "info", "cells": marks}), flush=True)
        print(json.dumps({"type": "action", "action": message["actions"][0]}), flush=True)
`);
  play(dir, "marks.jsonl", ["hex", "python3 marks.py", "@first", "--setup", "size=4"]);
  const { page, fine } = await newPage();
  await page.goto(`${server.url}/match?file=marks.jsonl#ply=0`);
  await page.locator(".heat").first().click();
  await page.waitForURL(/try=0%3B(b2|c3)/);
  await fine();
});

test("a piece shows its targets", async () => {
  const { page, fine } = await newPage();
  await page.goto(`${server.url}/match?file=star.jsonl#ply=0`);
  await cell(page, "7").click();
  await pane(page).getByText("Click a target.").waitFor();
  const target = page.locator(".choosable").first();
  await target.click();
  await pane(page).getByText("What if: 1 move after move 0 of the game.").waitFor();
  await fine();
});

test("an agent is asked for its move, and plays on from there", async () => {
  const { page, fine } = await newPage();
  await page.goto(`${server.url}/match?file=hex.jsonl#ply=3&pane=whatif`);
  await pane(page).getByLabel("Agent").selectOption("@minimax");
  await pane(page).getByRole("button", { name: "Ask for a move" }).click();
  await pane(page).getByText(/@minimax: [a-e][1-5] \(score .*, depth/).waitFor();
  await pane(page).getByText("What if: 1 move after move 3").waitFor();
  await pane(page).getByRole("button", { name: "Play on from here" }).click();
  await page.getByRole("region", { name: "Your move" }).waitFor();
  assert.equal(await page.locator("[aria-label*=' piece']").count(), 4);
  await fine();
});
