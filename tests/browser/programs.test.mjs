// Games whose rules are programs: played by people, tried otherwise, in colours of their own.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { Server, folder, newPage, play } from "./stage.mjs";

const SAMPLES = new URL("../../sample-agents/games/", import.meta.url).pathname;
const GROUND = "#2b6f8a";

const games = folder();
/** Makes a variant of tic-tac-toe. @param {string} name @param {[string, string][]} changes */
function variant(name, changes) {
  const made = join(games, name);
  mkdirSync(made);
  for (const file of ["game.toml", "rules.py"]) {
    let text = readFileSync(join(SAMPLES, "tic-tac-toe", file), "utf8");
    text = text.replace('"tic-tac-toe"', `"${name}"`);
    for (const [from, to] of file === "rules.py" ? changes : []) {
      assert.ok(text.includes(from), from);
      text = text.replace(from, to);
    }
    writeFileSync(join(made, file), text);
  }
  return made;
}
/** On cells with a colour of their own. */
const coloured = variant("coloured", [["        view = grid(3, 3)\n", `        view = grid(3, 3).ground([0, 0], "${GROUND}")\n`]]);
/** With pieces in a colour of their own, long texts on them, and many of them beside the board. */
const own = variant("own", [
  ['piece("cross", "red", "X")', 'piece("cross", "#d08020", "WWW")'],
  ["        view = grid(3, 3)\n", '        view = grid(3, 3).text("twice").row("hand", ["10H"] * 60, "cross").row("pile", ["cross"] * 60)\n'],
]);
const over = folder();
const rules = ["connect-four", "othello", "pig", "kuhn-poker"].flatMap((name) => ["--rules", join(SAMPLES, name)]);
const server = new Server(over, [...rules, "--rules", coloured, "--rules", own]);
before(async () => {
  play(over, "coloured.jsonl", [coloured, "@first", "@first"]);
  play(over, "own.jsonl", [own, "@first", "@first"]);
  play(over, "foreign.jsonl", [join(SAMPLES, "tic-tac-toe"), "@first", "@first"]);
  play(over, "pig.jsonl", [join(SAMPLES, "pig"), "@first", "@first", "--setup", "target=12", "--seed", "1"]);
  play(over, "kuhn.jsonl", [join(SAMPLES, "kuhn-poker"), "@first", "@first", "--setup", "hands=1", "--seed", "1"]);
  await server.start();
});

const cell = (page, name) => page.locator(`[role=gridcell][aria-label^="${name},"]`);

/** Starts a match of a person from the form on the home page. @param {Record<string, string>} [setup] */
async function start(page, game, setup = {}) {
  await page.goto(`${server.url}/#start`);
  await page.getByLabel("Game").selectOption(game);
  await page.getByLabel("Seat 0").selectOption("@human");
  await page.getByLabel("Seat 1").selectOption("@first");
  await page.getByText("Setup, clock, pace").click();
  for (const [name, value] of Object.entries(setup)) await page.getByLabel(name).fill(value);
  await page.getByLabel("Pace").fill("0");
  await page.getByRole("button", { name: "Start match" }).click();
  await page.getByRole("region", { name: "Your move" }).waitFor();
}

test("a game program is played by clicks: the cells of its actions, or those that the board marks", async () => {
  const { page, fine } = await newPage();
  await start(page, "othello");
  await cell(page, "d3").click();
  await page.locator(".move[data-ply='2']").waitFor();
  await start(page, "connect-four");
  // Where the disc comes to lie.
  await cell(page, "d6").click();
  await page.locator(".move[data-ply='2']").waitFor();
  await page.waitForFunction(() => document.querySelector(".human:not([hidden]) .human-note strong"));
  assert.equal(await page.locator("#actions option").count(), 7);
  await page.locator("#typed-move").fill("4");
  await page.keyboard.press("Enter");
  await page.locator(".move[data-ply='4']").waitFor();
  await fine();
});

test("the number of seats of a game program is chosen", async () => {
  const { page, fine } = await newPage();
  await page.goto(`${server.url}/#start`);
  await page.getByLabel("Game").selectOption("pig");
  await page.getByLabel("Seat 1").waitFor();
  const counts = await page.locator("select").evaluateAll((all) =>
    all.map((one) => [...one.options].map(({ value }) => value).join(" ")));
  assert.ok(counts.includes("2 3 4"), counts.join("; "));
  await fine();
});

test("other actions are played by the program", async () => {
  const { page, fine } = await newPage();
  await page.goto(server.match("coloured.jsonl", "#ply=1"));
  await cell(page, "c3").click();
  await page.waitForFunction(() =>
    document.querySelector('[aria-label^="c3,"]')?.getAttribute("aria-label")?.includes("piece"));
  await fine();
});

/** The colour of a pixel of the page, as `#rrggbb`. */
async function pixel(page, x, y) {
  const png = await page.screenshot({ clip: { x, y, width: 1, height: 1 } });
  const { page: blank } = await newPage();
  return blank.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
    context.drawImage(image, 0, 0, 1, 1);
    const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
    return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("")}`;
  }, png.toString("base64"));
}

test("a cell's own colour is shown in light and in dark", async () => {
  const fills = [];
  for (const theme of ["light", "dark"]) {
    const { page, fine } = await newPage();
    await page.goto(server.match("coloured.jsonl", `#ply=0&theme=${theme}`));
    const id = `ground-tint-${GROUND.slice(1)}`;
    const use = page.locator(`.layer-ground use[href="#${id}"]`);
    await use.waitFor({ state: "attached" });
    const box = await use.boundingBox();
    const wanted = await page.locator(`#${id} .in-${theme} polygon`).getAttribute("fill");
    assert.equal(await pixel(page, box.x + box.width / 2, box.y + box.height / 2), wanted, theme);
    fills.push(wanted);
    await fine();
  }
  assert.notEqual(fills[0], fills[1]);
});

test("an author's colours are on badges, texts fit on pieces, and all that is beside the board is seen", async () => {
  for (const viewport of [{ width: 800, height: 900 }, { width: 1280, height: 800 }]) {
    const { page, fine } = await newPage();
    await page.setViewportSize(viewport);
    await page.goto(server.match("own.jsonl", "#ply=1"));
    const disc = page.locator(".seat .badge circle").first();
    await disc.waitFor();
    assert.equal(await disc.evaluate((it) => getComputedStyle(it).fill), "rgb(208, 128, 32)");
    assert.equal(await page.locator(".seat .badge-letter").first().textContent(), "");
    const piece = page.locator(".layer-pieces > g").first();
    const [text, whole] = [await piece.locator("text").boundingBox(), await piece.locator("use").boundingBox()];
    assert.ok(text.width < whole.width && text.width > whole.width / 2, `${text.width} ${whole.width}`);
    const [rows, foot] = [await page.locator(".board-rows").boundingBox(), await page.locator(".foot").boundingBox()];
    assert.ok(rows.height > 60 && rows.y + rows.height <= foot.y, `${JSON.stringify([rows, foot])}`);
    const hidden = await page.locator(".board-rows").evaluate((it) => it.scrollWidth - it.clientWidth);
    assert.equal(hidden, 0);
    assert.equal(await page.getByText("twice").count(), 0);
    await fine();
  }
});

test("a match without its rules shows what needs none", async () => {
  const { page, fine } = await newPage();
  await page.goto(server.match("foreign.jsonl"));
  await page.getByText("rules not available:").first().waitFor();
  await page.locator("#result", { hasText: "@first wins" }).waitFor();
  await page.locator(".move[data-ply='7']", { hasText: "a3" }).waitFor();
  await fine();
});

test("what is drawn is chosen, too, in a branch", async () => {
  const { page, fine } = await newPage();
  await page.goto(`${server.url}/match?file=pig.jsonl#ply=0&try=0%3Broll`);
  const pane = page.getByRole("region", { name: "What if" });
  const five = pane.getByRole("button", { name: "5", exact: true });
  await five.waitFor();
  // All outcomes are seen, not only the first line.
  await pane.getByRole("button", { name: "6", exact: true }).hover();
  await five.click();
  await pane.getByText("What if: 2 moves after move 0 of the game.").waitFor();
  await pane.getByRole("button", { name: "hold" }).click();
  await page.waitForURL(/try=0%3Broll%3B5%3Bhold/);
  await fine();
});

test("a game with hidden information is shown as a seat saw it, or whole", async () => {
  const { page, fine } = await newPage();
  await page.goto(`${server.url}/match?file=kuhn.jsonl#ply=1`);
  const drawn = page.locator(".move[data-ply='1']");
  const [, first, second] = (await drawn.textContent()).match(/drawn: ([JQK]) ([JQK])/) ?? [];
  assert.ok(first && second);
  await page.getByLabel("Show").selectOption("1");
  await page.waitForURL(/seen_by=1/);
  await drawn.waitFor();
  const all = await page.locator("body").textContent();
  assert.ok(all.includes(`{"card":"${second}"}`) && !all.includes(`${first} ${second}`), all);
  assert.match(await page.locator(".seat").nth(1).innerText(), new RegExp(`card: ${second}`));
  assert.doesNotMatch(await page.locator(".seat").nth(0).innerText(), /card/);
  await page.getByRole("button", { name: "What if" }).click();
  await page.getByText("Other actions can be tried where everything is shown.").waitFor();
  await fine();
});

test("a person sees what their seat may see until the game is over", async () => {
  const { page, fine } = await newPage();
  await start(page, "kuhn-poker", { hands: "1" });
  const seat = (number) => page.locator(".seat").nth(number).textContent();
  assert.match(await seat(0), /card: [JQK]/);
  assert.doesNotMatch(await seat(1), /card/);
  assert.match(await page.locator(".move[data-ply='1']").textContent(), /\{"card":"[JQK]"\}/);
  // Nor does anything else tell it.
  const file = new URL(page.url()).searchParams.get("file") ?? "";
  for (const [path, status] of [["position", 409], ["branch", 409], ["text", 200], ["lines", 200]]) {
    const answer = await page.request.get(`${server.url}/api/${path}?file=${file}&ply=1&seen_by=1&actions=`);
    assert.equal(answer.status(), status, path);
    assert.doesNotMatch(await answer.text(), /"?[JQK] [JQK]|B +[JQK]/, path);
  }
  await page.locator("#typed-move").fill("bet");
  await page.keyboard.press("Enter");
  await page.locator("#result").getByText(/wins|draw/).waitFor();
  await page.reload();
  assert.match(await page.locator(".move[data-ply='1']").textContent(), /drawn: [JQK] [JQK]/);
  await fine();
});
