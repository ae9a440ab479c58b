// Makes the animation in the README: a match in the viewer, ply by ply.
// Usage: node tests/browser/picture.mjs TRANSCRIPT FILE.gif
// Needs chromium, ffmpeg, and playwright-core in REFEREE_TESTS_NODE_MODULES. REFEREE_TESTS_PROGRAM is the
// program, `referee` by default.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { chromium } = createRequire(`${process.env.REFEREE_TESTS_NODE_MODULES}/`)("playwright-core");
const [transcript, out] = process.argv.slice(2);
const program = process.env.REFEREE_TESTS_PROGRAM ?? "referee";
const folder = mkdtempSync(join(tmpdir(), "referee-picture-"));
try {
  const file = join(folder, "match.html");
  execFileSync(program, ["replay", "export", transcript, "--out", file], { stdio: "ignore" });
  const executablePath = process.env.REFEREE_TESTS_CHROMIUM ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  const page = await browser.newPage({ viewport: { width: 960, height: 620 }, reducedMotion: "reduce" });
  await page.goto(`file://${file}`);
  await page.keyboard.press("Home");
  const plies = await page.getByLabel("Ply", { exact: true }).evaluate((slider) => Number(slider.max));
  for (let ply = 0; ply <= plies; ply += 1) {
    await page.waitForTimeout(100);
    await page.screenshot({ path: join(folder, `${100 + ply}.png`) });
    await page.keyboard.press("ArrowRight");
  }
  await browser.close();
  const filter = "tpad=stop_mode=clone:stop_duration=3,split[a][b];[a]palettegen=max_colors=32[p];[b][p]paletteuse=dither=none";
  const input = ["-framerate", "2", "-start_number", "100", "-i", join(folder, "%d.png")];
  execFileSync("ffmpeg", ["-y", "-loglevel", "error", ...input, "-vf", filter, out]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
