// Two matches side by side: stepped together, with the first difference.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Server, folder, newPage, play } from "./stage.mjs";

const dir = folder();
const server = new Server(dir);
before(async () => {
  const common = ["--setup", "size=5", "--seed", "3", "--openings", "3"];
  play(dir, "one.jsonl", ["hex", "@first", "@greedy", ...common]);
  play(dir, "two.jsonl", ["hex", "@greedy", "@greedy", ...common]);
  play(dir, "large.jsonl", ["hex", "@first", "@first", "--setup", "size=6"]);
  await server.start();
});

test("two matches are stepped together from their first difference", async () => {
  const { page, fine } = await newPage();
  await page.goto(server.match("one.jsonl", "#pane=more"));
  await page.getByRole("link", { name: "Compare with another match" }).click();
  await page.locator(".match-card", { hasText: "@greedy #2" }).locator("a").click();
  const button = page.getByRole("button", { name: /First difference: move \d+/ });
  await button.waitFor();
  const first = Number((await button.textContent()).match(/\d+/)[0]);
  const moves = () => page.locator(".compare-move").allTextContents();
  const at = async (ply) => {
    await page.locator(".where", { hasText: new RegExp(`^${ply} /`) }).waitFor();
    const strip = (text) => text.replace(/^.*\) /, "");
    return (await moves()).map(strip);
  };
  const [one, other] = await at(first);
  assert.notEqual(one, other);
  await page.keyboard.press("Home");
  await at(0);
  for (let ply = 1; ply < first; ply += 1) {
    await page.keyboard.press("ArrowRight");
    const [left, right] = await at(ply);
    assert.equal(left, right, `move ${ply}`);
  }
  await page.keyboard.press("End");
  await page.getByText(/over after \d+ moves/).first().waitFor();
  await fine();
});

test("matches on different boards are not compared", async () => {
  const { page } = await newPage();
  await page.goto(`${server.url}/compare?a=one.jsonl&b=large.jsonl`);
  await page.getByText("these are different games").waitFor();
});
