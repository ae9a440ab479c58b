// A finished match: buttons, keys, slider, addresses, output.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { Server, folder, newPage, pieces, play, shows, where } from "./stage.mjs";

const matches = folder();
const server = new Server(matches);
/** An agent that writes to stderr, sends info, marks cells, and exits in turn 6. */
const COMPLAINS = `
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "want": ["actions"]}), flush=True)
    elif message["type"] == "turn":
        if message["turn"] == 6:
            sys.exit("KeyError: (3, 4)")
        print("turn", message["turn"], file=sys.stderr, flush=True)
        thought = {"type": "info", "score": message["turn"] / 10, "text": "the middle",
                   "cells": [{"at": [1, 1], "label": "7"}]}
        print(json.dumps(thought), flush=True)
        print(json.dumps({"type": "action", "action": message["actions"][0]}), flush=True)
`;

/** An agent that sends `info` at two depths, with a line of play. */
const THINKS = `
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "want": ["actions"]}), flush=True)
    elif message["type"] == "turn":
        actions = message["actions"]
        first = {"type": "info", "depth": 1, "cells": [{"at": [0, 0], "label": "x"}]}
        second = {"type": "info", "depth": 2, "pv": actions[:2],
                  "cells": [{"at": [0, 0], "label": 0.25}, {"at": [1, 1], "label": 0.75}]}
        print(json.dumps(first), json.dumps(second), sep="\\n", flush=True)
        print(json.dumps({"type": "action", "action": actions[0]}), flush=True)
`;

before(async () => {
  writeFileSync(join(matches, "thinks.py"), THINKS);
  play(matches, "thinks.jsonl", ["hex", "python3 thinks.py", "@first", "--setup", "size=4"]);
  play(matches, "pegs.jsonl", ["peg-solitaire", "@random", "--seed", "1"]);
  play(matches, "long.jsonl", ["hex", "@first", "@random", "--seed", "1"]);
  writeFileSync(join(matches, "complains.py"), COMPLAINS);
  play(matches, "gone.jsonl", ["hex", "python3 complains.py", "@first", "--setup", "size=5"]);
  await server.start();
});

test("buttons, keys and the slider step, and the board follows", async () => {
  const { page, fine } = await newPage();
  await page.goto(server.match("long.jsonl"));
  await page.locator(".where").waitFor();
  const [opened, last] = await where(page);
  assert.ok(last > 25, `${last} plies`);
  assert.equal(opened, last, "a match that is over opens at its end");
  await page.keyboard.press("Home");
  await shows(page, 0);
  const empty = await pieces(page);
  const press = (name) => page.getByRole("button", { name, exact: true }).click();
  await press("Next ply");
  await shows(page, 1);
  assert.equal((await pieces(page)).length, empty.length + 1);
  await press("Forward 10 plies");
  await shows(page, 11);
  const eleven = await pieces(page);
  await press("Last ply");
  await shows(page, last);
  await press("Back 10 plies");
  await shows(page, last - 10);
  await press("Previous ply");
  await press("First ply");
  await shows(page, 0);
  assert.deepEqual(await pieces(page), empty);
  for (const [key, ply] of [
    ["ArrowRight", 1], ["Shift+ArrowRight", 11], ["ArrowLeft", 10], ["ArrowRight", 11],
    ["End", last], ["Shift+ArrowLeft", last - 10], ["Home", 0],
  ]) {
    await page.keyboard.press(key);
    await shows(page, ply);
    if (ply === 11) assert.deepEqual(await pieces(page), eleven);
  }
  const slider = page.getByRole("slider", { name: "Ply" });
  await slider.fill("11");
  await shows(page, 11);
  assert.deepEqual(await pieces(page), eleven);
  assert.match(await slider.getAttribute("aria-valuetext"), new RegExp(`^Ply 11 of ${last}, @`));
  await slider.focus();
  await page.keyboard.press("ArrowRight");
  await shows(page, 12);
  await page.locator(".move[data-ply='3']").click();
  await shows(page, 3);
  assert.equal(await page.locator(".move[aria-current]").getAttribute("data-ply"), "3");
  await page.keyboard.press("/");
  await page.keyboard.type("7");
  await page.keyboard.press("Enter");
  await shows(page, 7);
  await fine();
});

test("playback stops at a step", async () => {
  const { page, fine } = await newPage();
  await page.goto(server.match("long.jsonl", "#ply=2"));
  await shows(page, 2);
  await page.locator("body").press(" ");
  await page.waitForFunction(() => !document.querySelector(".where")?.textContent?.startsWith("2 "));
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Play", exact: true }).waitFor();
  await fine();
});

test("an address contains ply and settings, and overrides stored settings", async () => {
  const { page, fine } = await newPage();
  await page.goto(server.match("long.jsonl", "#ply=17&flip=1&coords=0&theme=dark&pane=more"));
  await shows(page, 17);
  const look = () => page.evaluate(() => [
    document.documentElement.dataset.theme,
    document.querySelector("svg.board")?.getAttribute("class"),
  ]);
  assert.deepEqual(await look(), ["dark", "board flipped without-coordinates"]);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("f");
  await page.waitForURL(/#ply=18&coords=0&theme=dark&pane=more$/);
  await page.keyboard.press("c");
  await page.waitForURL(/#ply=18&theme=dark&pane=more$/);
  await page.reload();
  await shows(page, 18);
  assert.deepEqual(await look(), ["dark", "board"]);
  await page.goto(server.match("long.jsonl", "#ply=4"));
  await shows(page, 4);
  await page.goto(`${server.url}/`);
  await page.goBack();
  await shows(page, 4);
  await fine();
});

test("an address that is entered just after a move is kept", async () => {
  const { page, fine } = await newPage();
  // The page hears of the address only after it would have written its own: this listener is the first.
  await page.addInitScript(() => {
    window.addEventListener("hashchange", (event) => event.isTrusted && event.stopImmediatePropagation());
  });
  await page.goto(server.match("long.jsonl", "#ply=2"));
  await shows(page, 2);
  const kept = await page.evaluate(async () => {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    location.hash = "#ply=4";
    await new Promise((done) => { setTimeout(done, 400); });
    return location.hash;
  });
  assert.equal(kept, "#ply=4");
  await page.evaluate(() => window.dispatchEvent(new HashChangeEvent("hashchange")));
  await shows(page, 4);
  await fine();
});

test("a link leads to the first fault, and playback at the end starts again", async () => {
  const { page, fine } = await newPage();
  await page.goto(`${server.url}/`);
  await page.locator(".match-card a", { has: page.locator(".flag.fault") }).click();
  await page.locator(".fault-box").waitFor();
  assert.match(await page.locator(".fault-box").textContent(), /gone/);
  await page.goto(server.match("long.jsonl", "#fault"));
  await page.locator(".where").waitFor();
  const [ply, last] = await where(page);
  assert.equal(ply, last, "without a fault it opens at the end");
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await page.waitForFunction(() => {
    const [ply, all] = document.querySelector(".where")?.textContent?.split("/").map(Number) ?? [];
    return ply >= 1 && ply < all;
  });
  await fine();
});

test("output is shown with its ply, and buttons find it", async () => {
  const { page, fine } = await newPage();
  await page.goto(server.match("gone.jsonl", "#ply=0"));
  await shows(page, 0);
  const [, last] = await where(page);
  await page.keyboard.press("]");
  await shows(page, 1);
  assert.equal(await page.locator(".output pre").textContent(), "turn 0\n");
  assert.equal(await page.locator(".said").textContent(), "the middle");
  const notes = page.locator(".layer-marks .note");
  assert.equal(await notes.count(), 0, "the marks are on the position that the agent thought about");
  await page.keyboard.press("ArrowLeft");
  await shows(page, 0);
  assert.equal(await notes.textContent(), "7");
  await page.keyboard.press("d");
  assert.equal(await notes.count(), 0);
  await page.keyboard.press("ArrowRight");
  await shows(page, 1);
  await page.getByText("Exact lines sent and received").click();
  await page.locator(".lines .got pre", { hasText: "\"type\": \"info\"" }).waitFor();
  await page.getByText("Board as plain text").click();
  await page.locator(".text-board").waitFor();
  await page.keyboard.press("End");
  await shows(page, last);
  assert.match(await page.locator(".fault-box").textContent(), /gone/);
  assert.match(await page.locator(".output pre").textContent(), /KeyError/);
  await page.getByRole("button", { name: "Graph", exact: true }).click();
  await page.getByText("Scores as a table").click();
  await page.getByRole("button", { name: "ply 3", exact: true }).click();
  await shows(page, 3);
  await fine();
});

test("keys move on the board and leave it", async () => {
  const { page, fine } = await newPage();
  await page.goto(server.match("gone.jsonl", "#ply=1"));
  await shows(page, 1);
  const label = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
  await page.locator("[role=gridcell][tabindex='0']").focus();
  assert.equal(await label(), "a1, black piece, last move");
  // Down from the point of a diamond: half a cell to one side, then back to the column.
  await page.keyboard.press("ArrowDown");
  assert.match(await label() ?? "", /^(a2|b1), empty/);
  for (const [key, expected] of [
    ["ArrowDown", "b2"], ["ArrowLeft", "a3"], ["ArrowRight", "b2"], ["End", "c1"], ["Home", "a3"],
    ["ArrowUp", "a2"],
  ]) {
    await page.keyboard.press(key);
    assert.ok((await label())?.startsWith(`${expected},`), `${key}: ${await label()}`);
  }
  assert.deepEqual((await where(page))[0], 1);
  await page.keyboard.press("Escape");
  await page.keyboard.press("ArrowRight");
  await shows(page, 2);
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByText("next cell").waitFor();
  await page.keyboard.press("ArrowRight");
  assert.deepEqual((await where(page))[0], 2);
  await page.getByRole("button", { name: "Close" }).click();
  await fine();
});

test("a missing match is an error", async () => {
  const { page, fine } = await newPage({}, ["404"]);
  await page.goto(server.match("nothing.jsonl"));
  await page.getByRole("alert").waitFor();
  await fine();
});

test("the end is shown with the last move: who won, who lost, and why", async () => {
  const { page, fine } = await newPage();
  await page.goto(server.match("long.jsonl"));
  await page.locator(".where").waitFor();
  const [, last] = await where(page);
  assert.equal(await page.locator(".move").count(), last + 1, "the end is no ply");
  assert.equal(await page.locator(".seat.winner .seat-state").textContent(), "★ wins");
  assert.equal(await page.locator(".seat.loser .seat-state").textContent(), "loses");
  assert.equal(await page.locator("#result .badge").count(), 1);
  assert.match(await page.locator(".spoken").textContent(), /wins: it connected/);
  await page.keyboard.press("ArrowLeft");
  await shows(page, last - 1);
  assert.equal(await page.locator(".seat.winner, .seat.loser").count(), 0);
  await fine();
});

test("the list of moves is one stop of the Tab key, with arrows inside", async () => {
  const { page, fine } = await newPage();
  await page.goto(server.match("long.jsonl", "#ply=3"));
  await shows(page, 3);
  assert.equal(await page.locator(".move[tabindex='0']").count(), 1);
  await page.locator(".move[tabindex='0']").focus();
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("data-ply"));
  await page.keyboard.press("ArrowDown");
  await shows(page, 4);
  assert.equal(await focused(), "4");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowLeft");
  await shows(page, 2);
  assert.equal(await focused(), "2");
  await page.locator("[data-cell='0']").click();
  assert.equal(await page.locator(".focus-ring.thin").count(), 1, "the ring of a click is thin");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.locator(".focus-ring.thin").count(), 0);
  await fine();
});

test("the link, the position, the picture and the command are copied", async () => {
  const { page, fine } = await newPage({ permissions: ["clipboard-read", "clipboard-write"] });
  await page.goto(server.match("gone.jsonl", "#ply=2&pane=more"));
  await shows(page, 2);
  const copied = async (name) => {
    await page.getByRole("button", { name, exact: true }).click();
    await page.getByText("Copied.").waitFor();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  assert.equal(await copied("Copy link"), server.match("gone.jsonl", "#ply=2&pane=more"));
  assert.equal(await copied("Copy command"), "referee replay 'gone.jsonl' --turn 1");
  const { stones } = JSON.parse(await copied("Copy position"));
  assert.equal(stones.flat().length, 2);
  await page.getByRole("button", { name: "Copy picture" }).click();
  await page.waitForFunction(async () => {
    const [item] = await navigator.clipboard.read();
    return item?.types.includes("image/png");
  });
  await fine();
});

test("agents' lines of play are arrows and numbers, and numbers on cells are shades", async () => {
  const { page, fine } = await newPage();
  await page.goto(server.match("thinks.jsonl", "#ply=0"));
  await shows(page, 0);
  assert.equal(await page.locator(".pv-order").count(), 2);
  assert.equal(await page.locator(".heat").count(), 2);
  assert.equal(await page.locator(".layer-chain use.ghost").count(), 2);
  await page.getByRole("button", { name: "Turn", exact: true }).click();
  await page.getByRole("slider", { name: "Which marks" }).fill("0");
  assert.equal(await page.locator(".heat").count(), 0);
  assert.equal(await page.locator(".note").textContent(), "x");
  await fine();
});

test("the board shows what was taken", async () => {
  const { page, fine } = await newPage();
  await page.goto(server.match("pegs.jsonl", "#ply=1"));
  await shows(page, 1);
  assert.equal(await page.locator(".layer-chain .ghost").count(), 1);
  assert.equal(await page.locator(".layer-chain .cross").count(), 1);
  await page.keyboard.press("Home");
  await shows(page, 0);
  assert.equal(await page.locator(".ghost").count(), 0);
  await fine();
});

test("a turn is run again with its agent", async () => {
  const { page, fine } = await newPage({}, ["422"]);
  await page.goto(server.match("long.jsonl", "#ply=3&pane=turn"));
  await shows(page, 3);
  const again = page.getByRole("region", { name: "Run again" });
  await again.getByRole("button").click();
  await again.getByText("as in the match").waitFor();
  await again.getByRole("group", { name: "answer now" }).getByText('"type":"action"').waitFor();
  await page.keyboard.press("ArrowLeft");
  assert.equal(await again.getByText("as in the match").count(), 0);
  // The server doesn't start programs that only a transcript names.
  await page.goto(server.match("gone.jsonl", "#ply=1&pane=turn"));
  await again.getByRole("button").click();
  await again.getByText("can't be started from the page").waitFor();
  await again.getByText("referee debug gone.jsonl --turn 0").waitFor();
  await page.keyboard.press("Home");
  await again.waitFor({ state: "hidden" });
  await fine();
});
