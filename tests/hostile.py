#!/usr/bin/env python3
"""Runs the hostile suite: programs that misbehave, at every level that this machine supports.

    tests/hostile.py REFEREE [--levels basic,confined] [--rows 1,30b] [--quick] [--json]
                     [--as-root | --user ID] [--jobs 2]

Started as root it runs everything twice: as root, and as an ordinary user with copies of all that
is needed. It prints one table, with what can't be tested here as not tested. It exits with 1 if a
row fails, or if level `confined` is unavailable on a kernel that supports it.
tests/hostile/README.md documents the rows.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "hostile"))

from suite import checks, machine, matches, mishaps, rows, table  # noqa: E402
from suite.place import Missing  # noqa: E402

# An unprivileged user without an account.
USER = 60000
# The exit code if the suite can't run here.
NOT_HERE = 77


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("referee")
    parser.add_argument("--levels", default="", help="only these levels, separated by commas")
    parser.add_argument("--rows", default="", help="only these rows, separated by commas; 4 is 4a and 4b")
    parser.add_argument("--quick", action="store_true", help="only the quick rows")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line of the table")
    parser.add_argument("--as-root", action="store_true", help="as root: not as an ordinary user too")
    parser.add_argument("--user", type=int, help="as root: only as this user")
    parser.add_argument("--jobs", type=int, default=2, help="how many rows run at once")
    return parser.parse_args()


def say(text):
    print(text, file=sys.stderr, flush=True)


def chosen(asked):
    """Returns the rows to run."""
    wanted = [it for it in asked.rows.split(",") if it]
    found = []
    for row in rows.load(asked.referee):
        number = str(rows.number_of(row)[0])
        if wanted and row.id not in wanted and number not in wanted:
            continue
        if asked.quick and not (row.quick or row.by):
            continue
        found.append(row)
    return found


def check_of(name):
    return getattr(checks, name, None) or getattr(mishaps, name)


def run(row, setting):
    """Runs one row at one level."""
    try:
        return check_of(row.check)(row, setting) if row.check else matches.play(row, setting)
    except Missing as why:
        return matches.not_tested(str(why))
    except Exception as error:  # One row must not end the suite.
        return matches.Result("the suite failed", [f"{type(error).__name__}: {error}"])


def line(row, level, user, result):
    expected = result.expected or ("" if row.check or row.by else " or ".join(row.expected(level)))
    if row.attacks:
        expected += f", {len(row.denied_at(level))} attacks denied"
        if result.worked:
            result.got += f", {len(result.worked)} of {len(row.attacks)} worked"
    state = "failed" if result.bad else "ok" if result.kind == "played" else result.kind
    return table.Line(row.id, row.what, level, user, expected, result.got, state,
                      result.problems, result.worked)


def out_of_reach(row, level, user, lacking):
    """Returns why a row isn't run at a level; None if it is."""
    if row.by:
        return matches.Result(f"covered by {row.by}", kind="covered")
    if user not in row.users:
        return matches.not_tested(f"only as {row.users[0]}")
    if lacking.get(level):
        return matches.not_tested(lacking[level])
    if row.counted and level != "metered" and not machine.has_counters():
        return matches.not_tested("kernel.perf_event_paranoid is above 2")
    return None


def play_all(asked, user, work):
    """Runs all rows at all levels, as one user; returns the lines."""
    known = machine.knows_levels(asked.referee)
    lacking = machine.levels(asked.referee) if known else {
        level: "this referee has no --sandbox" for level in rows.LEVELS[1:]}
    for level, why in lacking.items():
        say(f"as {user}: {level}: {why or 'its self-test passes'}")
    levels = asked.levels.split(",") if asked.levels else rows.LEVELS
    lines, tasks = [], []
    for row in chosen(asked):
        unknown = [it for it in row.needs if not machine.knows(asked.referee, it)]
        for level in levels:
            # Attacks are also tried where nothing stops them: one that never works proves nothing.
            # Never as root, since they could damage the machine.
            control = level == "none" and user != "root" and row.attacks
            if not control and (level == "none" or not row.holds_at(level)):
                continue
            result = matches.not_tested(f"no {unknown[0]}") if unknown else \
                out_of_reach(row, level, user, lacking)
            setting = matches.Setting(asked.referee, work, level, known, user)
            if result:
                lines.append(line(row, level, user, result))
            else:
                tasks.append((row, setting))
    return [*lines, *run_tasks(tasks, user, asked.jobs)], lacking


def run_tasks(tasks, user, jobs):
    """Runs rows, those that measure something alone."""
    done = []

    def one(task):
        row, setting = task
        begun = time.monotonic()
        made = line(row, setting.level, user, run(row, setting))
        done.append(made)
        mark = "" if made.state == "ok" else made.state.upper()
        say(f"[{len(done)}/{len(tasks)}] {row.id} {setting.level} as {user}: {made.got} {mark} "
            f"({time.monotonic() - begun:.1f} s)")

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, [it for it in tasks if not it[0].alone]))
    for task in [it for it in tasks if it[0].alone]:
        one(task)
    return done


def as_user(asked, work, number):
    """Runs this script as an ordinary user, with copies of all that is needed."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="hostile-user-", dir="/tmp"))
    try:
        place.chmod(0o755)
        shutil.copy(asked.referee, place / "referee")
        ignored = shutil.ignore_patterns("__pycache__", "target", "src")
        shutil.copytree(HERE, place / "tests", ignore=ignored)
        shutil.copytree(HERE.parent / "sample-agents", place / "sample-agents", ignore=ignored)
        shutil.copytree(work, place / "work", dirs_exist_ok=True)
        for path in [place / "work", *(place / "work").rglob("*")]:
            os.chown(path, number, number)
        words = [shutil.which("python3", path="/usr/bin:/bin") or sys.executable,
                 str(place / "tests" / "hostile.py"), str(place / "referee"), "--json",
                 "--jobs", str(asked.jobs), "--levels", asked.levels, "--rows", asked.rows]
        words += ["--quick"] if asked.quick else []
        environment = {**os.environ, "HOSTILE_WORK": str(place / "work"), "HOME": str(place)}
        ran = subprocess.run(words, user=number, group=number, extra_groups=[], cwd=place,
                             env=environment, stdout=subprocess.PIPE, text=True, check=False)
        if ran.returncode not in (0, 1):
            sys.exit(f"as user {number} the suite ended with {ran.returncode}")
        return [table.Line(**json.loads(text)) for text in ran.stdout.splitlines()]
    finally:
        shutil.rmtree(place, ignore_errors=True)


def proves_nothing(asked_rows, lines):
    """Returns the attacks that don't even work where nothing stops them."""
    found = []
    for row in asked_rows:
        at_none = [it for it in lines if it.id == row.id and it.level == "none"]
        if not row.attacks or not at_none or any(it.state == "not tested" for it in at_none):
            continue
        worked = {name for it in at_none for name in it.worked}
        idle = [it for it in row.attacks if it not in worked and it not in row.uncontrolled]
        if idle:
            found.append(table.Line(row.id, row.what, "none", at_none[0].user, "attacks work",
                                    "they prove nothing", "failed",
                                    [f"never works: {name}" for name in idle], []))
    return found


def main():
    if sys.version_info < (3, 11):
        say("tests/hostile.py needs Python 3.11, for its TOML")
        sys.exit(NOT_HERE)
    asked = options()
    asked.referee = os.path.abspath(asked.referee)
    root = os.getuid() == 0
    lines, lacking = [], {}
    with tempfile.TemporaryDirectory(prefix="hostile-work-") as work:
        os.chmod(work, 0o755)
        work = pathlib.Path(os.environ.get("HOSTILE_WORK", work))
        if not (root and asked.user):
            lines, lacking = play_all(asked, "root" if root else "user", work)
        if root and not asked.as_root:
            if any(row.check == "sample_agents" for row in chosen(asked)):
                checks.build_all(work)
            lines += as_user(asked, work, asked.user or USER)
    lines.sort(key=lambda it: rows.number_of(it))
    weak = machine.too_weak(lacking) if lacking else ""
    if asked.json:
        for each in lines:
            print(json.dumps(dataclasses.asdict(each)))
    else:
        lines += proves_nothing(chosen(asked), lines) if not asked.levels else []
        print(table.show(lines))
        states = [it.state for it in lines]
        print(f"\n{states.count('ok')} ok, {states.count('failed')} failed, "
              f"{states.count('not tested')} not tested, {states.count('covered')} covered")
        if lacking:
            had = [level for level, why in lacking.items() if not why]
            print(weak or f"levels here: {', '.join(had)}")
    failed = bool(weak) or any(it.state == "failed" for it in lines)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
