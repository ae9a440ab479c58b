// Shared by the browser tests: a server with its own folder, and pages that record errors.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

const require = createRequire(`${process.env.REFEREE_TESTS_NODE_MODULES}/`);
const { chromium } = require("playwright-core");
export const PROGRAM = process.env.REFEREE_TESTS_PROGRAM;

/** An agent that takes as many seconds per turn as its first argument. Its second argument is a file with
 * the number of a turn: it waits in that turn and later ones. */
export const SLOW = `
import json, sys, time

def may_play(turn):
    if len(sys.argv) < 3:
        return True
    with open(sys.argv[2]) as file:
        # It may be empty while it is written.
        return turn < int(file.read() or 0)

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "want": ["actions"]}), flush=True)
    elif message["type"] == "turn":
        time.sleep(float(sys.argv[1]))
        while not may_play(message["turn"]):
            time.sleep(0.05)
        if message["turn"] == 2:
            print("a note", file=sys.stderr, flush=True)
        print(json.dumps({"type": "action", "action": message["actions"][0]}), flush=True)
`;

/** Waits this many milliseconds. */
export const pause = (ms) => new Promise((resolve) => {
  setTimeout(resolve, ms);
});

/** A folder that is removed after the tests. */
export function folder() {
  const path = mkdtempSync(join(tmpdir(), "referee-browser-"));
  // If the referee runs as root, agents have their own users.
  chmodSync(path, 0o755);
  after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Plays a match into a file of the folder. */
export function play(into, file, args) {
  const options = ["--start-time", "3m", "--out", join(into, file), "--quiet"];
  const done = spawnSync(PROGRAM, ["play", ...args, ...options], { cwd: into, encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
}

/** Renames the agents of a transcript, also to names that the command line refuses. */
export function rename(file, names) {
  const [first, ...rest] = readFileSync(file, "utf8").split("\n");
  const header = JSON.parse(first);
  header.seats.forEach((seat, at) => {
    seat.name = names[at];
  });
  writeFileSync(file, [JSON.stringify(header), ...rest].join("\n"));
}

/** `referee serve` for a folder; it can be stopped and started again. */
export class Server {
  constructor(over, args = []) {
    this.over = over;
    this.args = args;
    this.port = "0";
    after(() => this.stop());
  }

  async start() {
    const args = ["serve", this.over, "--port", this.port, ...this.args];
    this.child = spawn(PROGRAM, args, { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    this.child.stderr.on("data", (bytes) => {
      said += bytes;
    });
    const line = await new Promise((resolve, reject) => {
      let text = "";
      this.child.stdout.on("data", (bytes) => {
        text += bytes;
        if (text.includes("\n")) resolve(text.split("\n")[0]);
      });
      this.child.on("exit", (code) => reject(new Error(`serve ended with ${code}: ${said}`)));
    });
    this.url = line.trim().replace(/\/$/, "");
    this.port = new URL(this.url).port;
    return this;
  }

  /** Kills it. */
  async stop(signal = "SIGKILL") {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => {
      child.on("exit", resolve);
    });
    child.kill(signal);
    await ended;
  }

  match(file, hash = "") {
    return `${this.url}/match?file=${encodeURIComponent(file)}${hash}`;
  }
}

/** A course in a folder, `d`: an open ladder of Hex with its site. */
export class Course {
  constructor(place) {
    this.place = place;
    after(() => this.child?.kill("SIGKILL"));
  }

  /** Opens it, with more lines of its contest file; returns the site's address. */
  async open(more = []) {
    writeFileSync(join(this.place, "c.toml"), [
      'name = "course"', "seed = 1", 'format = "ladder"', "rounds = 2", 'agents = ["@random", "@first"]',
      'clock = { bank = "10m", start = "3m" }', ...more, "[[games]]", 'game = "hex"', "setup = { size = 3 }", "",
    ].join("\n"));
    const args = ["contest", "open", "c.toml", "--out", "d", "--web=127.0.0.1:0"];
    this.child = spawn(PROGRAM, args, { cwd: this.place, stdio: ["ignore", "ignore", "pipe"] });
    return new Promise((resolve, reject) => {
      let said = "";
      this.child.stderr.on("data", (bytes) => {
        said += bytes;
        const found = /^site: (http:\S+)$/m.exec(said);
        if (found) resolve(found[1]);
      });
      this.child.on("exit", (code) => reject(new Error(`contest open ended with ${code}: ${said}`)));
    });
  }

  /** Runs a command of `contest`; returns what it prints. */
  contest(...words) {
    const made = spawnSync(PROGRAM, ["contest", ...words, "--json"], { cwd: this.place, encoding: "utf8" });
    assert.equal(made.status, 0, made.stderr);
    return JSON.parse(made.stdout);
  }
}

let browser = null;

/** The browser, shared by the tests of a file. */
async function started() {
  if (!browser) {
    browser = await chromium.launch({
      executablePath: process.env.REFEREE_TESTS_CHROMIUM,
      // An emulated graphics card takes a third of the CPU time.
      args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
    });
  }
  return browser;
}

after(async () => {
  await browser?.close();
});

/** A page of a new profile that records errors, warnings and dialogs. `expected` are parts of messages
 * that a test causes. */
export async function newPage(options = {}, expected = []) {
  const context = await (await started()).newContext(options);
  // Only a hanging page takes longer.
  context.setDefaultTimeout(180_000);
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("console", (message) => {
    const isBad = ["error", "warning"].includes(message.type());
    if (isBad && !expected.some((part) => message.text().includes(part))) {
      wrong.push(`${message.type()}: ${message.text()}`);
    }
  });
  return {
    page,
    /** Fails if anything was recorded. */
    fine: async () => {
      assert.deepEqual(wrong, []);
      // What the page asks meanwhile may not get through a test's handler before the end.
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await context.close();
    },
  };
}

/** The ply that the viewer shows, and the last one: "3 / 40". */
export async function where(page) {
  const text = await page.locator(".where").textContent();
  return text.split("/").map((part) => Number(part));
}

/** Waits until the viewer shows this ply. */
export async function shows(page, ply) {
  await page.waitForFunction(
    (wanted) => document.querySelector(".where")?.textContent?.startsWith(`${wanted} /`),
    ply,
  );
}

/** The pieces on the board, as `symbol@x,y`, in order. */
export async function pieces(page) {
  return page.$$eval(".layer-pieces use", (all) =>
    all.map((use) => ["href", "x", "y"].map((name) => use.getAttribute(name)).join(" ")).sort());
}

/** Tests the page with axe, in light and in dark. */
export async function assertAccessible(page) {
  await page.addScriptTag({ path: require.resolve("axe-core/axe.min.js") });
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    const found = await page.evaluate(async () => (await window.axe.run()).violations);
    const problems = found.map(({ id, help, nodes }) =>
      `${id}: ${help}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join(" | ")}`);
    assert.deepEqual(problems, [], colorScheme);
  }
}
