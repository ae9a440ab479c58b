"""Plays one row at one level and judges the result."""

import dataclasses
import json
import re
import subprocess

from . import watch
from .place import Place

# How often a match is played if the machine's lag makes it void.
TRIES = 3


@dataclasses.dataclass
class Setting:
    """How a row is run."""

    referee: str
    cache: object
    level: str
    # Whether the referee knows `--sandbox`.
    levels_known: bool = True
    user: str = "root"

    def level_words(self):
        return ["--sandbox", self.level] if self.levels_known else []


@dataclasses.dataclass
class Result:
    """The result of a row at a level."""

    got: str
    problems: list = dataclasses.field(default_factory=list)
    # `played`, `not tested` or `covered`.
    kind: str = "played"
    # Names of attacks that worked.
    worked: list = dataclasses.field(default_factory=list)
    # The expected result, if the row has none.
    expected: str = ""

    @property
    def bad(self):
        return bool(self.problems)


def not_tested(why):
    return Result(f"not tested: {why}", kind="not tested")


def filled(words, targets, setting):
    """Replaces `{name}` in words of a row by a target, or by the level.

    Paths are written with `%` for `/`, since an agent may read every path that its command names.
    `{name/}` is the real path.
    """
    names = {key: str(value) for key, value in targets.items()} | {"level": setting.level}

    def of(found):
        return names[found[1]] if found[2] else names[found[1]].replace("/", "%")

    return [re.sub(r"\{(\w+)(/?)\}", of, str(word)) for word in words]


def play(row, setting):
    """Plays a row's match, again if the machine's lag makes it void."""
    for _ in range(TRIES):
        result = once(row, setting)
        if result.got != "void lag":
            break
    return result


def once(row, setting):
    with Place(setting.cache) as place:
        targets = place.targets()
        seats = [None, None]
        seats[row.seat] = place.agent(row.program, filled(row.arguments, targets, setting), "hostile")
        other = filled(row.opponent.split(), targets, setting)
        seats[1 - row.seat] = place.agent(other[0], other[1:], "opponent")
        if row.game == "peg-solitaire":
            seats = seats[:1]
        setup = ["--setup", row.setup] if row.setup else []
        words = [setting.referee, "play", row.game, *setup, *seats, *setting.level_words(),
                 "--json", *clock(row), *filled(row.options, targets, setting)]
        words += ["--games", str(row.games)] if row.games > 1 else ["--out", "x.jsonl"]
        environment = place.environment()
        ran = watch.run(words, place.path, environment, row.within_s, before=place.keep)
        left, gone_s = watch.survivors(place.token)
        problems = []
        if left:
            commands = "; ".join(watch.command_of(pid) for pid in left[:3])
            problems.append(f"{len(left)} processes left after {gone_s:.1f} s: {commands}")
            watch.kill_marked(place.token)
        if ran.hung:
            return Result("hung", [*problems, f"not over after {row.within_s} s"])
        problems += check_run(row, place, ran)
        lines = parsed(ran.stdout)
        if ran.code != 0 or len(lines) != row.games:
            said = (ran.stderr.strip() or ran.stdout.strip()).replace("\n", " ")[:300]
            return Result("refused", [*problems, f"exit code {ran.code}: {said}"])
        files = [line["transcript"] for line in lines if line.get("transcript")]
        problems += verified(setting, place, environment, files)
        events = [read_events(place.path / name) for name in files]
        problems += check_time(row, ran, events)
        return judge(row, setting, lines, events, problems)


def clock(row):
    return [*row.clock, *([] if "--start-time" in row.clock else ["--start-time", "3m"])]


def parsed(text):
    try:
        return [json.loads(line) for line in text.splitlines() if line]
    except ValueError:
        return []


def read_events(path):
    try:
        return parsed(path.read_text(encoding="utf-8"))
    except OSError:
        return []


def check_run(row, place, ran):
    """Checks what holds after every run, whatever the agents did."""
    problems = []
    if ran.peak_kb > row.rss_mb * 1024:
        problems.append(f"the referee had {ran.peak_kb // 1024} MiB, {row.rss_mb} are allowed")
    if place.left() and not row.untidy:
        problems.append(f"left in its temporary folder: {place.left()[:3]}")
    changed = place.changed()
    if changed:
        problems.append(f"changed: {changed[:3]}")
    if "panicked" in ran.stderr:
        problems.append("the referee panicked: " + ran.stderr.strip()[-200:])
    return problems


def verified(setting, place, environment, files):
    """Verifies transcripts; returns the problems."""
    if not files:
        return ["no transcript"]
    words = [setting.referee, "verify", "--json", *files]
    ran = subprocess.run(words, cwd=place.path, env=environment, capture_output=True, text=True,
                         timeout=120, check=False)
    wrong = [line for line in parsed(ran.stdout) if line["status"] != "ok"]
    if ran.returncode == 0 and not wrong:
        return []
    return [f"verify: {wrong[:2] or ran.stderr.strip()[-200:]}"]


def verdict_of(verdict, seat):
    """Returns a seat's result in one or two words."""
    if verdict["result"] == "void":
        return "void " + verdict["void"]["cause"]
    fault = verdict["seats"][seat]["fault"]
    if fault is None:
        return "ok"
    return " ".join(filter(None, [fault["kind"], fault.get("by")]))


def judge(row, setting, lines, events, problems):
    """Judges all games; returns the worst result and the problems."""
    got = [verdict_of(line["verdict"], row.seat) for line in lines]
    expected = row.expected(setting.level)
    wrong = [it for it in got if it not in expected]
    if wrong:
        verdict = lines[got.index(wrong[0])]["verdict"]
        fault = verdict["seats"][row.seat]["fault"] or verdict["void"] or {}
        problems.append(f"{wrong[0]}, not {' or '.join(expected)}: {fault.get('text', '')[:200]}")
    for line in lines:
        problems += check_opponent(row, line["verdict"])
        problems += check_fault(row, line["verdict"])
        if setting.levels_known and line["sandbox"]["level"] != setting.level:
            problems.append(f"the recorded level is {line['sandbox']['level']}")
    reports = [pair for each in events for pair in reports_of(each, row.seat)]
    problems += check_figures(row, reports)
    problems += check_charged(row, lines, reports)
    # Only the victim knows whether some attacks worked.
    reports += [pair for each in events for pair in reports_of(each, 1 - row.seat)]
    worked, more = check_attacks(row, setting, reports)
    problems += more
    harmed = [text for each in events for text in harms(each)]
    problems += [f"the opponent was harmed: {text}" for text in sorted(set(harmed))]
    return Result((wrong or got)[0], problems, worked=worked)


def check_opponent(row, verdict):
    """Checks that the opponent is never at fault, and comes first if the hostile agent is."""
    if len(verdict["seats"]) < 2 or verdict["result"] == "void":
        return []
    other = 1 - row.seat
    fault = verdict["seats"][other]["fault"]
    if fault is not None:
        return [f"the opponent is at fault: {fault}"]
    if verdict["result"] == "fault" and verdict["places"][other] != 1:
        return [f"the opponent did not win: {verdict['places']}"]
    # Both play the first legal action, so the first to move wins.
    if verdict["result"] == "played" and verdict["places"] != [1, 2]:
        return [f"not the result of two polite agents: {verdict['places']}"]
    return []


def check_fault(row, verdict):
    seat = verdict["seats"][row.seat]
    problems = []
    fault = seat["fault"] or {}
    if row.text and row.text not in fault.get("text", ""):
        problems.append(f"its fault doesn't say {row.text!r}: {fault.get('text')!r}")
    if row.turns_max >= 0 and seat["turns"] > row.turns_max:
        problems.append(f"{seat['turns']} turns counted, {row.turns_max} at most")
    if row.cpu_ms:
        # The sum leaves out the turn in which it failed.
        said = re.search(r"(\d+) ms of CPU time", fault.get("text", ""))
        used = int(said[1]) if said else seat["cpu_ms"]
        if not row.cpu_ms[0] <= used <= row.cpu_ms[1]:
            problems.append(f"{used} ms of CPU time, not {row.cpu_ms[0]} to {row.cpu_ms[1]}")
    return problems


def check_time(row, ran, events):
    """Checks that the charged and uncharged time together are no longer than the run."""
    charged_s = sum(event.get("wall_ns", 0) for each in events for event in each) / 1e9
    if row.uncharged_s and charged_s + row.uncharged_s > ran.took_s:
        return [f"{charged_s:.1f} s are charged of {ran.took_s:.1f} s, {row.uncharged_s} of them free"]
    return []


def reports_of(events, seat):
    """Returns what a seat's programs report on stderr: kind, name, value."""
    pieces = [it["text"] for it in events if it["type"] == "stderr" and it["seat"] == seat]
    lines = "".join(pieces).splitlines()
    found = [re.fullmatch(r"(report|attack) ([^:]+): (.*)", line) for line in lines]
    return [it.groups() for it in found if it]


def harms(events):
    """Returns the harm that either seat reports."""
    texts = [value for seat in (0, 1) for kind, name, value in reports_of(events, seat)
             if kind == "report" and name == "harm"]
    return texts


def check_figures(row, reports):
    """Checks the figures that the row's program reports: `name = [least, most]`."""
    problems = []
    for name, (least, most) in row.figures.items():
        values = [float(value) for kind, said, value in reports if kind == "report" and said == name]
        if not values:
            problems.append(f"its program did not report {name}")
        for value in values:
            if not least <= value <= most:
                problems.append(f"{name} is {value:g}, not {least:g} to {most:g}")
    return problems[:3]


def check_charged(row, lines, reports):
    """Checks how much more CPU time was charged than its program says that it has used."""
    if not row.charged_over_ms:
        return []
    used = [float(value) for kind, said, value in reports if kind == "report" and said == "used_ms"]
    charged = sum(line["verdict"]["seats"][row.seat]["cpu_ms"] for line in lines)
    (least, most), over = row.charged_over_ms, charged - max(used, default=0)
    if used and least <= over <= most:
        return []
    return [f"{over:g} ms charged beyond what it has used, not {least} to {most}"]


def check_attacks(row, setting, reports):
    """Returns the attacks that worked, and those that shouldn't have or weren't tried."""
    said = {}
    for kind, name, value in reports:
        if kind == "attack" and not said.get(name, "").startswith("worked"):
            said[name] = value
    worked = sorted(name for name, value in said.items() if value.startswith("worked"))
    problems = [f"not tried: {name}" for name in row.attacks if name not in said]
    for name in row.denied_at(setting.level):
        if name in worked:
            problems.append(f"{name}: {said[name]}")
    return worked, problems
