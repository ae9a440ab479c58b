// The page of a contest on many machines: its workers and live matches.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  PROGRAM, SLOW, Server, folder, newPage, pause, pieces, shows, where,
} from "./stage.mjs";

const place = folder();
const server = new Server(place);
/** A clock that no agent runs out of, on however busy a machine. */
const AMPLE = ["--clock", "1h", "--start-time", "3m"];
/** Must be shown as text. */
const HOSTILE = "<img src=x onerror=alert(1)>";

/** A worker that was just seen. */
function worker(id, more) {
  return {
    id, name: id, arch: "x86_64", cores: 4, slots: 2, games: [], played: 0, sandbox: { level: "isolated", layers: [] },
    refused: null, leaving: false, lost: false, faults: 0, fault: null,
    seen: new Date().toISOString(), ...more,
  };
}

let child = null;
after(() => child?.kill("SIGKILL"));

before(async () => {
  writeFileSync(join(place, "slow.py"), SLOW);
  const args = ["contest", "quick", "--game", "hex", "--setup", "size=5", "python3 slow.py 2", "@first",
    "--games", "20", "--jobs", "1", ...AMPLE, "--quiet", "--out", "cup"];
  child = spawn(PROGRAM, args, { cwd: place, stdio: "ignore" });
  while (!existsSync(join(place, "cup/games/0000/0000000.jsonl"))) await pause(50);
  await server.start();
});

function show(workers) {
  const path = join(place, "cup/workers.json");
  writeFileSync(`${path}.new`, JSON.stringify({ workers }));
  renameSync(`${path}.new`, path);
}

test("a contest's page shows its workers and their matches", async () => {
  const { page, fine } = await newPage();
  await page.goto(`${server.url}/contest?folder=cup`);
  const table = page.getByRole("region", { name: "Workers" });
  const live = page.locator("#live-list .match-card");
  await live.first().waitFor();
  assert.equal(await table.count(), 0);
  assert.doesNotMatch(await live.first().textContent(), / on /);

  // Any game that is running now.
  const games = Array.from({ length: 20 }, (_, number) => number);
  show([
    worker("room-3", { games, played: 5 }),
    worker(HOSTILE, { refused: `needs ${HOSTILE}`, seen: "2001-01-01T00:00:00Z", sandbox: null }),
  ]);
  await table.waitFor();
  const rows = await table.locator("tbody tr").allTextContents();
  assert.equal(rows.length, 2);
  assert.match(rows[0], /^room-320 of 25isolated\d+ s agoplaying$/);
  assert.match(rows[1], /hours agodoesn't fit: needs <img/);
  assert.equal(await page.locator("img[src=x]").count(), 0);
  await live.filter({ hasText: "on room-3" }).first().waitFor();

  show([worker("room-4", { lost: true, faults: 2, fault: "no compiler" })]);
  await table.getByText("lost; failed 2 times: no compiler").waitFor();
  await fine();
});

/** Debian installs it in a folder of root's path. */
const NATS = [...(process.env.PATH ?? "").split(":"), "/usr/sbin", "/usr/local/sbin"]
  .map((path) => join(path, "nats-server")).find((path) => existsSync(path));
const FORBID_SKIP = Boolean(process.env.REFEREE_TESTS_FORBID_SKIP);
const others = [];
after(() => others.forEach((one) => one.kill("SIGKILL")));

/** Starts a program that ends with the tests. */
function start(program, args) {
  const one = spawn(program, args, { cwd: place, stdio: "ignore" });
  others.push(one);
  return one;
}

/** A free port, below those that a system gives to connections. */
async function freePort() {
  for (let port = 12_000 + process.pid % 20_000; port < 32_768; port += 1) {
    const listener = createServer();
    const isFree = await new Promise((resolve) => {
      listener.once("error", () => resolve(false));
      listener.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => {
      listener.close(resolve);
    });
    return String(port);
  }
  throw new Error("no port is free");
}

/** Whether the program was built with the feature `fleet`. */
const hasWorker = spawnSync(PROGRAM, ["worker", "--help"]).status === 0;
const wanted = FORBID_SKIP || (NATS && hasWorker);
const lacks = wanted ? false : "there is no nats-server, or the program lacks the feature `fleet`";
test("a match on a worker is followed to its end", { skip: lacks }, async () => {
  const port = await freePort();
  const url = `nats://127.0.0.1:${port}`;
  start(NATS, ["-js", "-a", "127.0.0.1", "-p", port, "-sd", "nats"]);
  mkdirSync(join(place, "work"));
  mkdirSync(join(place, "slow"));
  writeFileSync(join(place, "slow/slow.py"), SLOW);
  writeFileSync(join(place, "slow/agent.toml"), 'command = ["python3", "slow.py", "4"]\n');
  start(PROGRAM, ["worker", url, "--jobs", "1", "--name", "room-7", "--work", "work"]);
  const args = ["contest", "quick", "--game", "hex", "--setup", "size=5", "./slow", "@first",
    "--games", "2", ...AMPLE, "--quiet", "--out", "far", "--on", url];
  // It doesn't wait for a server.
  while (!existsSync(join(place, "far/contest.db"))) {
    const one = start(PROGRAM, args);
    while (one.exitCode === null && !existsSync(join(place, "far/contest.db"))) await pause(50);
  }
  const { page, fine } = await newPage();
  await page.goto(`${server.url}/contest?folder=far`);
  const live = page.locator("#live-list .match-card", { hasText: "on room-7" });
  await live.first().waitFor();
  assert.match(await page.getByRole("region", { name: "Workers" }).textContent(), /room-7.*playing/);
  await live.first().locator("a").click();
  await page.locator("#result", { hasText: "running" }).waitFor();
  const [, then] = await where(page);
  await page.waitForFunction(
    () => /wins/.test(document.querySelector("#result")?.textContent ?? ""), undefined, { timeout: 180_000 },
  );
  const [ply, last] = await where(page);
  assert.equal(ply, last);
  assert.ok(last > then, `${last} plies, ${then} before`);
  const followed = await pieces(page);
  const address = page.url().split("#")[0];
  await page.goto("about:blank");
  await page.goto(`${address}#ply=${last}`);
  await shows(page, last);
  assert.deepEqual(await pieces(page), followed);
  await fine();
});
