// A transcript of a thousand turns: it opens and steps. The times are printed, not checked.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Server, folder, newPage, play, shows } from "./stage.mjs";

const matches = folder();
const server = new Server(matches);

before(async () => {
  const agents = new Array(6).fill("@random");
  const setup = ["--setup", '{"seats":6,"max_turns":1000}', "--seed", "1"];
  play(matches, "long.jsonl", ["chinese-checkers", ...agents, ...setup]);
  await server.start();
});

const middle = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)].toFixed(1);
const late = (times) => times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)].toFixed(1);

test("a thousand turns open and step", async (t) => {
  const { page, fine } = await newPage();
  // The start of the browser itself isn't the page's.
  await page.goto(`${server.url}/`);
  await page.locator("#matches .match-card").first().waitFor();
  await page.goto(server.match("long.jsonl", "#ply=0"));
  await shows(page, 0);
  // From the click on a link to the first picture with everything in it.
  const opened = await page.evaluate(() => new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
  }));
  const match = await page.evaluate(() => {
    const [entry] = performance.getEntriesByType("resource")
      .filter(({ name }) => name.includes("/api/match"));
    return (entry?.responseEnd ?? 0) - (entry?.startTime ?? 0);
  });
  // From a press to the page being laid out again.
  const times = await page.evaluate(async () => {
    const button = document.querySelector("[aria-label='Next ply']");
    const taken = [];
    for (let step = 0; step < 200; step += 1) {
      const began = performance.now();
      button?.dispatchEvent(new MouseEvent("click"));
      void document.body.offsetHeight;
      taken.push(performance.now() - began);
      await new Promise((resolve) => {
        requestAnimationFrame(resolve);
      });
    }
    return taken;
  });
  await shows(page, 200);
  assert.equal(await page.locator(".move").count(), 1001);
  t.diagnostic(`opens in ${opened.toFixed(0)} ms, ${match.toFixed(0)} of them the server's`);
  t.diagnostic(`a step takes ${middle(times)} ms, 95 % at most ${late(times)} ms`);
  await fine();
});
