// A match in a frame of another site: only where the server allows it, without a cookie.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Server, folder, newPage, play } from "./stage.mjs";

const matches = folder();
/** The page of the other site. */
let body = "";

/** A site of its own: another port is another origin. */
async function site() {
  const other = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end(`<!doctype html><title>course</title>${body}`);
  });
  await new Promise((resolve) => {
    other.listen(0, "127.0.0.1", resolve);
  });
  after(() => other.close());
  return `http://127.0.0.1:${other.address().port}`;
}

before(() => play(matches, "match.jsonl", ["hex", "@first", "@random", "--setup", "size=4", "--seed", "1"]));

test("a copied frame shows the match on the allowed site alone", async () => {
  const [allowed, refused] = [await site(), await site()];
  const token = join(matches, "token");
  writeFileSync(token, "open-sesame");
  const server = await new Server(matches, ["--token-file", token, "--embed", allowed]).start();
  const permissions = ["clipboard-read", "clipboard-write"];
  const own = await newPage({ permissions });
  await own.page.goto(server.url);
  await own.page.goto(new URL("/match?file=match.jsonl#ply=2&pane=more", server.url).href);
  await own.page.getByRole("button", { name: "Copy frame" }).click();
  await own.page.getByText("Copied.").waitFor();
  body = await own.page.evaluate(() => navigator.clipboard.readText());
  assert.match(body, /^<iframe src=".*\/embed\?file=match\.jsonl&amp;key=[0-9a-f]{32}#ply=2/);
  await own.fine();
  body = body.replace("#", "#autoplay&amp;loop&amp;");

  const visitor = await newPage();
  await visitor.page.goto(allowed);
  const frame = visitor.page.frameLocator("iframe");
  await frame.locator(".board-frame svg").waitFor();
  await frame.getByRole("button", { name: "Pause" }).waitFor();
  await visitor.fine();

  const other = await newPage({}, ["frame-ancestors", "Framing"]);
  await other.page.goto(refused);
  await other.page.waitForFunction(() => document.querySelector("iframe") !== null);
  assert.equal(await other.page.frameLocator("iframe").locator(".board-frame svg").count(), 0);

  // The key opens this match alone.
  const { page } = await newPage();
  const address = new URL(body.match(/src="([^"]*)"/)[1].replaceAll("&amp;", "&"));
  assert.equal((await page.goto(address.href))?.status(), 200);
  address.searchParams.set("key", "0");
  address.hash = "";
  assert.equal((await page.goto(address.href))?.status(), 401);
});

test("without the option there are no frames", async () => {
  const server = await new Server(matches).start();
  const { page } = await newPage({}, ["404"]);
  await page.goto(server.match("match.jsonl", "#pane=more"));
  await page.getByRole("button", { name: "Copy frame" }).click();
  await page.getByText("start it with `referee serve --embed ORIGIN`").waitFor();
  assert.equal((await page.goto(`${server.url}/embed?file=match.jsonl`))?.status(), 404);
});
