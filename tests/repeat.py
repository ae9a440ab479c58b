#!/usr/bin/env python3
"""Runs the test suites many times beside busy loops, in turn as root and as an ordinary user.

    tests/repeat.py [--quick 20] [--full 5] [--loops 8] [--user nobody] [--only NAME]

A test that can fail by chance is a defect: on a machine with much other work each suite must pass every time. Both are
built once. Started as an ordinary user it runs everything as this user. It prints a line per run, then a table, and
exits with 1 if a run failed; the output of failed runs is kept in target/repeat.
"""

import argparse
import contextlib
import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLACE = ROOT / "target" / "repeat"
# Only a hang takes longer: seconds for a test binary.
TIMEOUTS = {"quick": 3600, "full": 7200}
COMMANDS = {
    "quick": ["--workspace"],
    "full": ["-p", "referee-tests", "-p", "referee-fleet", "--features", "referee-tests/full", "--lib", "--test", "full"],
}


def built(suite):
    """Builds a suite and copies its binaries, since the next build replaces some; returns the tests: the folder in which
    each runs, and its path."""
    place = PLACE / suite
    shutil.rmtree(place, ignore_errors=True)
    (place / "deps").mkdir(parents=True)
    command = ["cargo", "test", "--no-run", "--message-format=json", *COMMANDS[suite]]
    printed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    tests = []
    for line in printed.splitlines():
        message = json.loads(line)
        if not message.get("executable"):
            continue
        path = pathlib.Path(message["executable"])
        is_test = message["profile"]["test"]
        copy = place / ("deps" if is_test else ".") / path.name
        shutil.copy(path, copy)
        if is_test:
            tests.append((pathlib.Path(message["manifest_path"]).parent, copy))
    return tests


@contextlib.contextmanager
def busy_loops(count):
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def environment(user):
    """Returns the environment of a run, with a home and a temporary folder that belong to the user."""
    home = PLACE / "home"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    (home / "tmp").mkdir()
    shared = [PLACE / suite / "tmp" for suite in COMMANDS]
    for folder in shared:
        shutil.rmtree(folder, ignore_errors=True)
        if folder.parent.exists():
            folder.mkdir()
    for folder in [home, home / "tmp", *(it for it in shared if it.exists())]:
        if user:
            os.chown(folder, user.pw_uid, user.pw_gid)
    more = {
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        # Snapshots are compared only, and without asking cargo where they are.
        "INSTA_UPDATE": "no",
        "INSTA_WORKSPACE_ROOT": str(ROOT),
        "RUST_TEST_THREADS": "4",
        "REFEREE_TESTS_FORBID_SKIP": "1",
    }
    if user:
        # As if that user had logged in: without folders that only root may search.
        folders = os.environ["PATH"].split(os.pathsep)
        more["PATH"] = os.pathsep.join(it for it in folders if is_searched(it, user))
    return {**os.environ, **more}


def is_searched(folder, user):
    """Whether a user may search a folder, and every folder above it."""
    path = pathlib.Path(folder)
    if not path.is_absolute() or not path.is_dir():
        return False
    modes = [it.stat() for it in [path.resolve(), *path.resolve().parents]]
    return all(mode.st_mode & (0o100 if mode.st_uid == user.pw_uid else 0o001) for mode in modes)


def run(suite, tests, user):
    """Runs a suite once; returns what failed."""
    as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
    known, failed = environment(user), []
    for folder, test in tests:
        ran = subprocess.Popen([test], cwd=folder, env=known, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True, **as_user)
        try:
            output = ran.communicate(timeout=TIMEOUTS[suite])[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            os.killpg(ran.pid, signal.SIGKILL)
            output = ran.communicate()[0].decode(errors="replace") + "\nkilled: it hangs\n"
        if ran.returncode != 0:
            names = [line.split()[1] for line in output.splitlines() if line.endswith("... FAILED")]
            failed += names or [f"{test.name}: ended with {ran.returncode}"]
            (PLACE / f"failed-{suite}-{time.strftime('%H%M%S')}-{test.name}.txt").write_text(output)
    return failed


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--quick", type=int, default=20, help="runs of the quick suite")
    parser.add_argument("--full", type=int, default=5, help="runs of the full suite")
    parser.add_argument("--loops", type=int, default=8, help="busy loops beside them")
    parser.add_argument("--user", default="nobody", help="the ordinary user of every second run")
    parser.add_argument("--only", default="", help="only test binaries whose name begins so")
    return parser.parse_args()


def main():
    asked = options()
    user = None
    if os.geteuid() == 0:
        user = pwd.getpwnam(asked.user)
        readable = subprocess.run(["test", "-r", ROOT / "Cargo.toml"], user=user.pw_uid, group=user.pw_gid,
                                  extra_groups=[], check=False)
        if readable.returncode != 0:
            sys.exit(f"{asked.user} can't read {ROOT}: use a checkout outside of root's home folder")
    counts = {"quick": asked.quick, "full": asked.full}
    tests = {suite: [it for it in built(suite) if it[1].name.startswith(asked.only)]
             for suite, count in counts.items() if count > 0}
    table = []
    with busy_loops(asked.loops):
        for suite in tests:
            for number in range(counts[suite]):
                # Root first, then the user, and so on.
                runner = user if number % 2 == 1 else None
                name = runner.pw_name if runner else pwd.getpwuid(os.geteuid()).pw_name
                begun = time.monotonic()
                failed = run(suite, tests[suite], runner)
                table.append((suite, number + 1, name, time.monotonic() - begun, failed))
                print(f"{suite} {number + 1} as {name}: {', '.join(failed) or 'passed'}", flush=True)
    print(f"\n{'suite':6} {'run':>3} {'user':10} {'seconds':>8}  failed")
    for suite, number, name, seconds, failed in table:
        print(f"{suite:6} {number:3} {name:10} {seconds:8.0f}  {', '.join(failed) or '-'}")
    sys.exit(any(failed for *_, failed in table))


main()
