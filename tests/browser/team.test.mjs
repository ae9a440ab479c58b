// The page of a team: hand in a broken agent, read why, mend it, see its games, go back; and the link to it.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { Course, assertAccessible, folder, newPage } from "./stage.mjs";

const place = folder();
const course = new Course(place);
let address = "";
let link = "";

const BOT = `
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "want": ["actions"]}), flush=True)
    elif message["type"] == "turn":
        print("a note of my own", file=sys.stderr, flush=True)
        print(json.dumps({"type": "action", "action": message["actions"][0]}), flush=True)
    elif message["type"] == "over":
        break
`;

before(async () => {
  address = await course.open();
  ({ link } = course.contest("invite", "d", "Team <b>7</b>"));
});

/** Chooses a file, confirms the command and hands in. */
async function handIn(page, name, text) {
  const file = join(place, name);
  writeFileSync(file, text);
  await page.getByLabel("Files", { exact: true }).setInputFiles(file);
  assert.equal(await page.getByLabel("Command").inputValue(), `python3 ${name}`);
  // The field has the focus, and Tab leads to the button.
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText(/^Version \d+ is handed in/).waitFor();
}

test("a team hands in, reads why, mends it and goes back", async () => {
  const { page, fine } = await newPage();
  await page.goto(link);
  await page.getByRole("heading", { name: "Team <b>7</b>" }).waitFor();
  assert.equal(page.url(), `${address}/team`, "the address no longer has the secret");
  assert.ok(!(await page.content()).includes(link.split("#")[1]));
  await handIn(page, "bot.py", "raise ValueError('not yet')\n");
  const first = page.locator(".version", { hasText: "Version 1" });
  await first.getByText("doesn't play").waitFor();
  await first.locator(".step-failed", { hasText: "checked" }).waitFor();
  await first.getByRole("button", { name: "Feedback" }).click();
  await first.getByText("ValueError").first().waitFor();
  await handIn(page, "bot.py", BOT);
  const second = page.locator(".version", { hasText: "Version 2" });
  await second.getByText("plays as Team <b>7</b>").waitFor();
  await page.locator("#games .match-row, #games .match-card").first().waitFor();
  const rating = page.locator("#ratings");
  await rating.getByText(/^Team <b>7<\/b>: Elo [+−]?\d.* games?$/).waitFor();
  const picture = rating.getByRole("img", { name: /Ratings with intervals, and over games\. Team <b>7<\/b>: Elo/ });
  assert.ok(await picture.evaluate((image) => image.decode().then(() => image.naturalWidth > 300)), "it is a picture");
  // Its own stderr is there, in a page that has no exact lines and tries no moves.
  await page.locator("#games a[href*='match']").first().click();
  await page.locator(".seat").first().waitFor();
  await page.getByRole("button", { name: "What if" }).click();
  await page.getByText("This page has only the recorded moves").waitFor();
  const shown = await page.evaluate(async () => {
    const file = new URLSearchParams(location.search).get("file");
    return (await fetch(`/api/match?file=${file}`)).text();
  });
  assert.ok(shown.includes("a note of my own"));
  // Everyone else sees the same game without it.
  const other = await newPage();
  await other.page.goto(page.url());
  await other.page.locator(".seat").first().waitFor();
  const theirs = await other.page.evaluate(async () => {
    const file = new URLSearchParams(location.search).get("file");
    return (await fetch(`/api/match?file=${file}`)).text();
  });
  assert.ok(!theirs.includes("a note of my own"));
  await other.fine();
  await page.goto(`${address}/`);
  await page.getByRole("link", { name: "Your team" }).click();
  await page.getByRole("button", { name: "Withdraw all" }).click();
  await page.getByRole("button", { name: "Press again" }).click();
  await second.getByText("taken back").waitFor();
  await fine();
});

test("a folder is dropped, and says itself how it is started", async () => {
  const { page, fine } = await newPage();
  await page.goto(link);
  const mine = join(place, "mine");
  mkdirSync(mine);
  writeFileSync(join(mine, "agent.toml"), 'command = ["python3", "bot.py"]\n');
  writeFileSync(join(mine, "bot.py"), BOT);
  await page.getByLabel("Folder", { exact: true }).setInputFiles(mine);
  await page.getByText("2 files: it says itself how it is started.").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await page.locator(".confirm").textContent(), "");
  await fine();
});

test("without its link a team has no page", async () => {
  const { page, fine } = await newPage({}, ["401"]);
  await page.goto(`${address}/team`);
  await page.getByText("this needs the link of a team").waitFor();
  await page.goto(`${address}/contest`);
  await page.goto(`${address}/team#${"0".repeat(32)}`);
  await page.getByText("no longer, that of a team").waitFor();
  await fine();
});

for (const [size, width, zoom] of [["a phone", 360, 1], ["large text", 1280, 2]]) {
  test(`axe finds nothing and nothing overflows: ${size}`, async () => {
    const viewport = { width: width / zoom, height: 740 };
    const { page, fine } = await newPage({ viewport, deviceScaleFactor: zoom, bypassCSP: true });
    await page.goto(link);
    await page.locator(".version").first().waitFor();
    await page.getByLabel("Files", { exact: true }).setInputFiles(join(place, "bot.py"));
    await page.getByLabel("Command").waitFor();
    await page.getByRole("button", { name: "Feedback" }).first().click();
    await page.locator(".feedback").first().waitFor();
    await page.locator("#ratings img").waitFor();
    const [wide, room] = await page.evaluate(() =>
      [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    assert.ok(wide <= room, `${wide} pixels in ${room}`);
    await assertAccessible(page);
    if (process.env.REFEREE_TESTS_SCREENSHOTS) {
      const path = join(process.env.REFEREE_TESTS_SCREENSHOTS, `team-${width}.png`);
      await page.screenshot({ path, fullPage: true });
    }
    await fine();
  });
}

test("a page stays with its team when the link of another is opened in the same browser", async () => {
  const { page, fine } = await newPage();
  await page.goto(link);
  await page.getByRole("heading", { name: "Team <b>7</b>" }).waitFor();
  await page.locator("#hand-in").waitFor();
  const other = await page.context().newPage();
  await other.goto(course.contest("invite", "d", "Another").link);
  await other.getByRole("heading", { name: "Another" }).waitFor();
  await page.getByText("The link of another team, Another, was opened in this browser.").waitFor();
  await page.locator("#hand-in").waitFor({ state: "hidden" });
  await page.getByRole("link", { name: "Go to its page" }).click();
  await page.getByRole("heading", { name: "Another" }).waitFor();
  await fine();
});
