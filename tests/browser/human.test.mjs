// A person's moves in the browser: by clicks, by buttons, by typing.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Server, folder, newPage, pause } from "./stage.mjs";

const server = new Server(folder());
before(() => server.start());

/** Starts a match from the form on the home page. */
async function start(page, game, setup, opponent) {
  await page.goto(`${server.url}/#start`);
  await page.getByLabel("Game").selectOption(game);
  await page.getByLabel("Seat 0").selectOption("@human");
  if (opponent) await page.getByLabel("Seat 1").selectOption(opponent);
  await page.getByText("Setup, clock, pace").click();
  for (const [name, value] of Object.entries(setup)) {
    await page.locator(`[name="${name}"]`).fill(value);
  }
  await page.getByLabel("Pace").fill("0");
  await page.getByRole("button", { name: "Start match" }).click();
  await page.getByRole("region", { name: "Your move" }).waitFor();
}

/** The cell of this name. */
const cell = (page, name) => page.locator(`[role=gridcell][aria-label^="${name},"]`);

/** Waits until a person is to move, or the match is over. */
async function next(page) {
  await page.waitForFunction(() => {
    const isOver = /wins/.test(document.querySelector("#result")?.textContent ?? "");
    return isOver || document.querySelector(".human:not([hidden]) .human-note strong") !== null;
  });
}

test("a game is won by clicks", async () => {
  const { page, fine } = await newPage();
  await start(page, "hex", { size: "3" }, "@first");
  // Black joins upper left and lower right along a row that its opponent, which fills the board from
  // its first cell on, comes to last.
  for (const name of ["a3", "b3", "c3"]) {
    await next(page);
    await cell(page, name).click();
    await page.waitForFunction(
      (wanted) => document.querySelector(`[aria-label^="${wanted},"]`)
        ?.getAttribute("aria-label")?.includes("black piece"),
      name,
    );
  }
  await page.locator("#result", { hasText: "wins: it connected its two sides" }).waitFor();
  await page.getByText("You win: you connected your two sides").waitFor();
  await page.getByRole("link", { name: "Play again" }).waitFor();
  assert.equal(await page.getByRole("region", { name: "Your move" }).count(), 0);
  await fine();
});

test("a finger taps twice, and may change its mind in between", async () => {
  const { page, fine } = await newPage({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 800 } });
  await start(page, "hex", { size: "3" }, "@first");
  await next(page);
  await cell(page, "b2").tap();
  await page.getByText("b2: tap again to play it, or elsewhere.").waitFor();
  await cell(page, "a3").tap();
  await page.getByText("a3: tap again to play it, or elsewhere.").waitFor();
  assert.match(await cell(page, "a3").getAttribute("aria-label"), /selected/);
  assert.match(await cell(page, "b2").getAttribute("aria-label"), /empty/);
  await cell(page, "a3").tap();
  await page.waitForFunction(() =>
    document.querySelector('[aria-label^="a3,"]')?.getAttribute("aria-label")?.includes("black piece"));
  await fine();
});

test("a chosen piece shows its targets and goes to the clicked one", async () => {
  const { page, fine } = await newPage();
  await start(page, "chinese-checkers", {}, "@random");
  await next(page);
  const starts = page.locator(".choosable");
  const before = await starts.count();
  assert.ok(before > 0);
  await starts.first().click();
  await page.getByText("click a target.").waitFor();
  assert.ok(await page.locator(".layer-marks .mark-legal").count() > 0);
  assert.equal(await page.locator(".layer-marks .mark-selected").count(), 1);
  await page.locator(".choosable").first().click();
  await page.locator(".move[data-ply='1']").waitFor();
  await fine();
});

test("without a mouse: cells by keys, moves by typing, and resigning needs a confirmation", async () => {
  const { page, fine } = await newPage({}, ["422"]);
  await start(page, "hex", { size: "4" }, "@first");
  await cell(page, "b2").focus();
  await page.keyboard.press("Enter");
  await page.locator(".move[data-ply='2']").waitFor();
  await next(page);
  await page.getByLabel("Your move", { exact: true }).and(page.locator("input")).fill("zz");
  await page.keyboard.press("Enter");
  await page.locator(".human .error").waitFor();
  await page.locator("#typed-move").fill("c3");
  await page.keyboard.press("Enter");
  await page.locator(".move[data-ply='4']").waitFor();
  await next(page);
  await page.getByRole("button", { name: "Resign" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Resign" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Resign" }).click();
  await page.locator("#result", { hasText: "resign" }).waitFor();
  await fine();
});

/** The games, each with a setup in which it ends soon, and whether there is an opponent. */
const SHORT_GAMES = [
  ["chinese-checkers", { size: "2", max_turns: "6" }, true],
  ["chexers", { turns_per_seat: "2" }, true],
  ["freckers", { turn_limit: "6" }, true],
  ["hex", { size: "3" }, true],
  ["checker-puzzle", { size: "3" }, false],
  ["peg-solitaire", { size: "5" }, false],
];

for (const [game, setup, hasOpponent] of SHORT_GAMES) {
  test(`keys alone play ${game}`, async () => {
    const { page, fine } = await newPage();
    await start(page, game, setup, hasOpponent && "@first");
    for (let own = 0; own < 12; own += 1) {
      await page.waitForFunction(() => document.querySelector("#result")?.textContent?.trim()
        || document.querySelector(".human:not([hidden]) #actions option"));
      const action = await page.evaluate(() => document.querySelector("#result")?.textContent?.trim()
        ? null : document.querySelector("#actions option")?.getAttribute("value"));
      if (!action) break;
      const last = await page.locator(".move").last().getAttribute("data-ply");
      // Tab reaches the field from the top of the page.
      await page.evaluate(() => {
        if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
      });
      for (let stop = 0; stop < 60; stop += 1) {
        await page.keyboard.press("Tab");
        if (await page.evaluate(() => document.activeElement?.id === "typed-move")) break;
      }
      await page.keyboard.type(action);
      await page.keyboard.press("Enter");
      await page.waitForFunction((before) =>
        Number([...document.querySelectorAll(".move")].at(-1)?.getAttribute("data-ply")) > Number(before), last);
    }
    const over = await page.locator("#result").textContent();
    if (!over?.trim()) {
      // A puzzle that isn't solved by its first actions is given up.
      assert.ok(!hasOpponent, `${game} has no end`);
      await page.getByRole("button", { name: "Resign" }).focus();
      await page.keyboard.press("Enter");
      await page.keyboard.press("Tab");
      await page.getByRole("dialog").getByRole("button", { name: "Resign" }).focus();
      await page.keyboard.press("Enter");
      await page.locator("#result", { hasText: /\w/ }).waitFor();
    }
    await fine();
  });
}

test("a move is shown before the server confirms it, and taken back if it is refused", async () => {
  const { page, fine } = await newPage({}, ["409"]);
  await start(page, "hex", { size: "4" }, "@first");
  const confirm = [];
  await page.route("**/api/seat", async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    await new Promise((resolve) => confirm.push(resolve));
    if (confirm.length > 1) return route.continue();
    return route.fulfill({
      status: 409, contentType: "application/json", body: JSON.stringify({ error: "not now", help: null }),
    });
  });
  const isShown = (what) => page.waitForFunction(
    (wanted) => document.querySelector('[aria-label^="b2,"]')?.getAttribute("aria-label")?.includes(wanted), what);
  await cell(page, "b2").click();
  await isShown("black piece");
  assert.equal(await page.locator(".move[data-ply='1']").count(), 0);
  confirm[0]();
  await page.locator(".human .error", { hasText: "not now" }).waitFor();
  await isShown("empty");
  await cell(page, "b2").click();
  await isShown("black piece");
  confirm[1]();
  await page.locator(".move[data-ply='2']").waitFor();
  await isShown("black piece");
  await fine();
});

test("an answer about a turn that was just played doesn't ask for it again", async () => {
  const { page, fine } = await newPage();
  const asked = { answers: [], late: false };
  await page.route("**/api/seat*", async (route) => {
    if (route.request().method() === "POST") {
      asked.late = true;
      return route.continue();
    }
    if (asked.late) {
      asked.late = false;
      return route.fulfill({ contentType: "application/json", body: asked.answers[0] });
    }
    const answer = await route.fetch();
    const text = await answer.text();
    if (JSON.parse(text).waiting) asked.answers.push(text);
    return route.fulfill({ response: answer, body: text });
  });
  await start(page, "hex", { size: "4" }, "@first");
  for (const name of ["b2", "c3"]) {
    await next(page);
    await cell(page, name).click();
  }
  await page.locator(".move[data-ply='4']").waitFor();
  await fine();
});

test("a turn that the page hasn't heard of yet isn't asked for", async () => {
  const { page, fine } = await newPage();
  await page.addInitScript(() => {
    window.held = null;
    const { addEventListener } = EventSource.prototype;
    EventSource.prototype.addEventListener = function listen(type, act, ...more) {
      const later = (event) => (window.held ? window.held.push(() => act(event)) : act(event));
      addEventListener.call(this, type, later, ...more);
    };
  });
  // The page asks at its start and when it begins to follow: the second answer comes after the opponent's move.
  let asked = 0;
  const second = {};
  const isAsked = new Promise((resolve) => { second.ask = resolve; });
  const isFree = new Promise((resolve) => { second.free = resolve; });
  await page.route("**/api/seat?*", async (route) => {
    asked += 1;
    const isSecond = asked === 2;
    if (isSecond) {
      second.ask();
      await isFree;
    }
    let response = await route.fetch();
    if (!isSecond) await isAsked;
    while (isSecond && (await response.json()).turn !== 2) response = await route.fetch();
    return route.fulfill({ response });
  });
  await start(page, "hex", { size: "4" }, "@first");
  await page.evaluate(() => { window.held = []; });
  const played = page.waitForResponse((response) => response.request().method() === "POST");
  await cell(page, "b2").click();
  await (await played).finished();
  const answered = page.waitForResponse((response) => response.url().includes("/api/seat?"));
  second.free();
  await (await answered).finished();
  await page.evaluate(() => new Promise((done) => setTimeout(done)));
  assert.equal(await page.getByRole("region", { name: "Your move" }).count(), 0);
  await page.evaluate(() => {
    const { held } = window;
    window.held = null;
    held.forEach((act) => act());
  });
  await next(page);
  await cell(page, "c3").click();
  await page.locator(".move[data-ply='4']").waitFor();
  await fine();
});

test("a finger that rests on the board has an enlarged part of it above, and chooses where it ends", async () => {
  const { page, fine } = await newPage({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 800 } });
  await start(page, "hex", { size: "5" }, "@first");
  await next(page);
  const middle = async (name) => {
    const { x, y, width, height } = await cell(page, name).boundingBox();
    return { x: x + width / 2, y: y + height / 2 };
  };
  const touch = await page.context().newCDPSession(page);
  const finger = (type, ...points) => touch.send("Input.dispatchTouchEvent", { type, touchPoints: points });
  await finger("touchStart", await middle("b2"));
  await page.locator(".loupe svg").waitFor();
  await finger("touchMove", await middle("c4"));
  await finger("touchEnd");
  await page.getByText("c4: tap again to play it, or elsewhere.").waitFor();
  await page.locator(".loupe").waitFor({ state: "hidden" });
  // Later than a click of the same finger could come.
  await pause(200);
  await cell(page, "c4").tap();
  await page.waitForFunction(() =>
    document.querySelector('[aria-label^="c4,"]')?.getAttribute("aria-label")?.includes("black piece"));
  await fine();
});

test("the next turn may begin before the answer to a move comes", async () => {
  const { page, fine } = await newPage();
  await start(page, "hex", { size: "3" }, "@first");
  await next(page);
  await page.route("**/api/seat", async (route) => {
    const response = await route.fetch();
    await page.locator(".move[data-ply='2']").waitFor();
    await next(page);
    await route.fulfill({ response });
  });
  for (const name of ["a3", "b3"]) {
    const answered = page.waitForResponse((response) => response.url().endsWith("/api/seat"));
    await cell(page, name).click();
    await (await answered).finished();
    // What the page does with the answer.
    await page.evaluate(() => new Promise((done) => setTimeout(done)));
    await page.getByRole("region", { name: "Your move" }).waitFor();
  }
  await page.locator(".move[data-ply='4']").waitFor();
  await fine();
});
