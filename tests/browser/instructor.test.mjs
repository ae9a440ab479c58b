// The page of the instructor: pause, extend a deadline, disqualify and take it back, freeze, final, grades, everything.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { Course, assertAccessible, folder, newPage } from "./stage.mjs";

const place = folder();
const course = new Course(place);
let address = "";
let link = "";
const teams = {};

const BOT = `
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "want": ["actions"]}), flush=True)
    elif message["type"] == "turn":
        print(json.dumps({"type": "action", "action": message["actions"][-1]}), flush=True)
    elif message["type"] == "over":
        break
`;

/** Sends a version of a team's agent. */
function handIn(team, text) {
  const form = new FormData();
  form.append("file", new Blob([text]), "bot.py");
  const headers = { Authorization: `Bearer ${teams[team]}` };
  return fetch(`${address}/api/team/versions`, { method: "POST", headers, body: form });
}

before(async () => {
  address = await course.open(["[web]", 'deadline = "2001-01-01 00:00"', "[grades]", 'marks = [{ mark = "A" }]']);
  for (const [team, id] of [["amy <b>", "s1"], ["bob", "s2"]]) {
    teams[team] = course.contest("invite", "d", team, "--id", id).link.split("#")[1];
  }
  ({ instructor: link } = course.contest("teams", "d", "--instructor"));
});

/** Fills a form and presses its button, twice if it asks. */
async function act(page, fields, button, said, sure = false) {
  for (const [label, value] of fields) await page.getByLabel(label, { exact: true }).fill(value);
  await page.getByRole("button", { name: button, exact: true }).click();
  if (sure) await page.getByRole("button", { name: "Press again" }).click();
  await page.getByText(`Done: ${said}`).waitFor();
}

test("an instructor runs the course", async () => {
  const { page, fine } = await newPage();
  await page.goto(link);
  await page.getByRole("heading", { name: "course", exact: true }).waitFor();
  assert.equal(page.url(), `${address}/instructor`, "the address no longer has the secret");
  assert.ok(!(await page.content()).includes(link.split("#")[1]));
  // One team has longer: it may hand in, and plays. The other may not.
  assert.equal((await handIn("amy <b>", BOT)).status, 403);
  const row = page.locator("#teams tr", { hasText: "amy <b>" });
  await row.getByRole("button").click();
  await act(page, [["Own deadline", "2999-12-24T18:00"]], "Extend", "amy <b> may hand in until 2999-12-24");
  assert.equal((await handIn("amy <b>", BOT)).status, 201);
  assert.equal((await handIn("bob", BOT)).status, 403);
  await row.getByText("plays", { exact: true }).waitFor();
  // The deadline is moved for all.
  await act(page, [["Deadline", "2999-12-24T18:00"]], "Set the times", "deadline 2999-12-24");
  assert.equal((await handIn("bob", BOT)).status, 201);
  await page.locator("#teams tr", { hasText: "bob" }).getByText("plays", { exact: true }).waitFor();
  await page.getByLabel("Why games pause").fill("a lecture");
  await page.keyboard.press("Enter");
  await page.getByText("Done: games are paused: a lecture").waitFor();
  await page.locator("#result", { hasText: "paused" }).waitFor();
  await act(page, [], "Go on", "games go on");
  // Disqualified, the team leaves and can't hand in, until that is taken back.
  const team = page.locator("#team");
  await team.locator("select").selectOption("amy <b>");
  await team.getByLabel("Why it is disqualified").fill("copied");
  await team.getByRole("button", { name: "Disqualify" }).click();
  await team.getByRole("button", { name: "Press again" }).click();
  await row.getByText("disqualified: copied").waitFor();
  assert.equal((await handIn("amy <b>", `${BOT}# more`)).status, 403);
  await page.locator("#log").getByText("amy <b> left and forfeits its open games").waitFor();
  await act(page, [], "Take the disqualification back", "amy <b> is no longer disqualified");
  await page.locator("#log").getByText("amy <b> came back and plays its open games").waitFor();
  await row.getByText("plays", { exact: true }).waitFor();
  // From the freeze on, the public sees no newer results.
  await page.getByRole("button", { name: "Freeze now" }).click();
  await page.getByText("Done: deadline").waitFor();
  const other = await newPage();
  await other.page.goto(`${address}/contest`);
  await other.page.getByText("Notes").click();
  await other.page.getByText("Newer results are not shown yet").waitFor();
  await other.fine();
  // The final, with its grades.
  await act(page, [["Rounds", "1"]], "Start the final", "play a final of 1 round in d-final-1", true);
  const final = page.locator("#final");
  await final.getByText("12 of 12 games played").waitFor();
  await page.locator("#log").getByText("done: played, in d-final-1").waitFor();
  const download = async (name) => {
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name }).click()]);
    return { name: file.suggestedFilename(), text: readFileSync(await file.path(), "latin1") };
  };
  const grades = await download("Grades of the final");
  assert.equal(grades.name, "d-final-1-grades.csv");
  assert.match(grades.text, /^player,id,mark,/);
  assert.match(grades.text, /^amy %3cb%3e,s1,A,/m);
  const everything = await download("Download everything");
  for (const part of ["course.json", "contest/contest.db", "/1/files/bot.py", "finals/d-final-1/report.json"]) {
    assert.ok(everything.text.includes(part), part);
  }
  assert.ok(!Object.values(teams).some((secret) => everything.text.includes(secret)));
  await fine();
});

test("games are played again, a team is invited and gets a new link", async () => {
  const { page, fine } = await newPage({}, ["404"]);
  await page.goto(link);
  await act(page, [["New team", "zoe"], ["Id", "s3"]], "Invite", "zoe is invited");
  const shown = await page.locator("#course .link").textContent();
  assert.match(shown, new RegExp(`^${address}/team#[0-9a-f]{32}$`));
  await page.locator("#teams tr", { hasText: "zoe" }).getByText("nothing yet").waitFor();
  await page.locator("#team select").selectOption("zoe");
  await page.getByRole("button", { name: "New link" }).click();
  await page.getByRole("button", { name: "Press again" }).click();
  await page.getByText("Done: zoe has a new link").waitFor();
  assert.notEqual(await page.locator("#team .link").textContent(), shown);
  const rerun = page.locator("form", { hasText: "Games by number" });
  await rerun.getByLabel("Games by number").fill("99999");
  await rerun.getByLabel("Why they are played again").fill("the machine slept");
  await rerun.getByRole("button", { name: "Play again" }).click();
  await page.locator("#course").getByText("there is no game 99999").waitFor();
  await fine();
});

test("nobody else has this page", async () => {
  const { page, fine } = await newPage({}, ["401"]);
  await page.goto(`${address}/instructor`);
  await page.getByText("this needs the instructor's link").waitFor();
  await page.goto(`${address}/contest`);
  await page.goto(`${address}/instructor#${teams.bob}`);
  await page.getByText("this needs the instructor's link").waitFor();
  await fine();
});

for (const [size, width, zoom] of [["a phone", 360, 1], ["large text", 1280, 2], ["a desk", 1280, 1]]) {
  test(`axe finds nothing and nothing overflows: ${size}`, async () => {
    const viewport = { width: width / zoom, height: 740 };
    const { page, fine } = await newPage({ viewport, deviceScaleFactor: zoom, bypassCSP: true });
    await page.goto(link);
    await page.locator("#teams table").waitFor();
    const [wide, room] = await page.evaluate(() =>
      [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    assert.ok(wide <= room, `${wide} pixels in ${room}`);
    await assertAccessible(page);
    const shots = process.env.REFEREE_TESTS_SCREENSHOTS;
    for (const colorScheme of shots ? ["light", "dark"] : []) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(shots, `instructor-${width / zoom}-${colorScheme}.png`), fullPage: true });
    }
    await fine();
  });
}
