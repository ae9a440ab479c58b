"""Rows that are more than one match."""

import contextlib
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time

from . import watch
from .matches import Result, not_tested, parsed, verdict_of
from .place import PROGRAMS, Missing, Place, python, tool
from .rows import HERE

BUILDING = threading.Lock()
# Of row 70.
LANGUAGES = ("python", "javascript", "java", "c", "rust", "go")
POLITE = ["play", "hex", "--setup", "size=3", "--clock", "1h", "--start-time", "3m"]


def referee(setting, place, words, extra=None, within_s=300, look=None):
    """Runs the referee in a place; `play` runs at the setting's level."""
    level = setting.level_words() if words[0] == "play" else []
    environment = place.environment() | (extra or {})
    return watch.run([setting.referee, *words, *level], place.path, environment, within_s, look)


def summed_up(problems, good):
    """Returns the result of a check: `good` if there are no problems."""
    return Result("; ".join(problems)[:120] if problems else good, problems, expected=good)


def left_over(place):
    """Kills the processes that a run has left, and returns the problem."""
    left, _ = watch.survivors(place.token)
    commands = [watch.command_of(pid) for pid in left[:3]]
    watch.kill_marked(place.token)
    return [f"{len(left)} processes left: {commands}"] if left else []


def a_clean_terminal(_row, setting):
    with Place(setting.cache) as place:
        agent = place.agent("hostile.py", ["garish"], "hostile")
        words = [*POLITE, agent, "@first", "--board", "none", "--out", "x.jsonl"]
        runs = [referee(setting, place, words),
                referee(setting, place, ["replay", "x.jsonl", "--print", "--board", "none"])]
        text = "".join(ran.stdout + ran.stderr for ran in runs)
        found = sorted({it for it in text if (it < " " and it != "\n") or "\x7f" <= it < "\xa0"})
        problems = [f"printed: {found}"] if found else []
        if "EVIL" not in text:
            problems.append("none of its output was printed")
        return summed_up(problems + left_over(place), "clean")


def programs_that_are_none(_row, setting):
    # An executable of an architecture that doesn't exist.
    elsewhere = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\xff\xfe" + bytes(44)
    # The name of its interpreter lies behind its end, so that executing it is an error of reading.
    machine = pathlib.Path(sys.executable).resolve().read_bytes()[18:20]
    damaged = struct.pack("<4sBBB9xH2sIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 2, machine, 1, 0x400000, 64, 0,
                          0, 64, 56, 1, 0, 0, 0)
    damaged += struct.pack("<IIQQQQQQ", 3, 4, 1 << 16, 0, 0, 28, 28, 1)
    programs = [("plain", b"just text\n", 0o644), ("text", b"just text\n", 0o755),
                ("lost", b"#!/no/such/interpreter\n", 0o755), ("elsewhere", elsewhere, 0o755),
                ("damaged", damaged, 0o755)]
    problems = []
    with Place(setting.cache) as place:
        for name, data, mode in programs:
            (place.path / name).write_bytes(data)
            (place.path / name).chmod(mode)
            ran = referee(setting, place, [*POLITE, f"./{name}", "@first", "--json",
                                           "--out", f"{name}.jsonl"])
            lines = parsed(ran.stdout)
            got = verdict_of(lines[0]["verdict"], 0) if lines else f"exit code {ran.code}"
            if got != "start":
                problems.append(f"{name}: {got}, not start")
        ran = referee(setting, place, [*POLITE, "./missing", "@first"])
        if ran.code != 2:
            problems.append(f"a missing program: exit code {ran.code}, not 2")
        return summed_up(problems + left_over(place), "start")


def a_constant_referee(_row, setting):
    samples = []

    def look(pid):
        try:
            files = len(os.listdir(f"/proc/{pid}/fd"))
            with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
                states = [state_of(child) for child in children.read().split()]
            samples.append((files, watch.status_kb(pid, "Threads"), states.count("Z")))
        except OSError:
            pass

    with Place(setting.cache) as place:
        agent = place.agent("forks.py", ["politely"], "hostile")
        words = [*POLITE, agent, "@first", "--games", "200", "--json", "--jobs", "2"]
        ran = referee(setting, place, words, look=look, within_s=1200)
        third = len(samples) // 3
        problems = [] if ran.code == 0 and third > 5 else [f"exit code {ran.code}, {third} samples"]
        for at, name in enumerate(("files", "threads", "zombies")):
            earlier = max((it[at] for it in samples[third:2 * third]), default=0)
            later = max((it[at] for it in samples[2 * third:]), default=0)
            # Which matches run at once varies by a few pipes.
            if later > earlier + 8:
                problems.append(f"{name} grew from {earlier} to {later}")
        if place.left():
            problems.append(f"left: {place.left()[:3]}")
        return summed_up(problems + left_over(place), "constant")


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0]


def a_killed_referee(_row, setting):
    """Kills the referee with SIGKILL during the start or a turn."""
    draw, problems = random.Random(54), []
    for _ in range(6):
        with Place(setting.cache) as place:
            seats = [place.agent("family.py", ["mute"], name) for name in ("hostile", "opponent")]
            words = [setting.referee, *POLITE, *seats, "--out", "x.jsonl", *setting.level_words()]
            running = subprocess.Popen(words, cwd=place.path, env=place.environment(),
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(draw.uniform(0, 0.6))
            running.send_signal(signal.SIGKILL)
            running.wait()
            problems += left_over(place)
    return summed_up(problems, "none left")


def kill_and_resume(_row, setting):
    script = HERE.parent / "kill_and_resume.py"
    words = [sys.executable, str(script), setting.referee, "--kills", "12", "--games", "1344",
             *setting.level_words()]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=1800, check=False)
    said = (ran.stdout + ran.stderr).strip().splitlines()[-1:]
    return summed_up([] if ran.returncode == 0 else [f"{said}"], "each game once")


def transcript(setting, place):
    """Plays a match; returns the lines of its transcript."""
    referee(setting, place, [*POLITE, "@first", "@first", "--out", "good.jsonl"])
    return (place.path / "good.jsonl").read_bytes().splitlines(keepends=True)


def verify_all(setting, variants):
    """Verifies changed transcripts: per name, the change to the lines and the expected status."""
    problems = []
    with Place(setting.cache) as place:
        lines = transcript(setting, place)
        for name, (change, allowed) in variants.items():
            (place.path / "x.jsonl").write_bytes(b"".join(change(list(lines))))
            ran = referee(setting, place, ["verify", "--json", "x.jsonl"])
            status = [line["status"] for line in parsed(ran.stdout)]
            if status != [allowed]:
                problems.append(f"{name}: {status}, not {allowed}")
    return summed_up(problems, "found")


def torn_transcripts(_row, setting):
    return verify_all(setting, {
        "nothing": (lambda lines: lines, "ok"),
        "cut in the last line": (lambda lines: [*lines[:-1], lines[-1][:20]], "torn"),
        "cut in a line before": (lambda lines: [*lines[:-3], lines[-3][:20]], "torn"),
        "bytes after the end": (lambda lines: [*lines, b"\0\0\0\0"], "tampered"),
    })


def swapped(lines):
    lines[3], lines[5] = lines[5], lines[3]
    return lines


def tampered_transcripts(_row, setting):
    return verify_all(setting, {
        "edited": (lambda lines: [it.replace(b'"used_ms":', b'"used_ms":1') for it in lines],
                   "tampered"),
        "deleted": (lambda lines: lines[:4] + lines[5:], "tampered"),
        "swapped": (swapped, "tampered"),
        "appended": (lambda lines: [*lines, lines[4]], "tampered"),
    })


def cut_transcripts(_row, setting):
    return verify_all(setting, {
        "records cut, the seal too": (lambda lines: lines[:-3], "torn"),
        "records cut, the seal kept": (lambda lines: [*lines[:-4], lines[-1]], "tampered"),
    })


def a_full_disk(_row, setting):
    problems = []
    with Place(setting.cache) as place:
        (place.path / "x.jsonl").symlink_to("/dev/full")
        for seats in (["@first", "@first"], ["@random", "@random", "--setup", "size=11"]):
            ran = referee(setting, place, [*POLITE, *seats, "--out", "x.jsonl", "--force"])
            if ran.code != 4 or "No space left" not in ran.stderr:
                problems.append(f"exit code {ran.code}, not 4: {ran.stderr.strip()[-120:]}")
        return summed_up(problems + left_over(place), "exit code 4")


def a_jumping_clock(_row, setting):
    source = PROGRAMS / "clock_jumps.c"
    library = setting.cache / "clock_jumps.so"
    words = [tool("cc"), "-shared", "-fPIC", "-o", str(library), str(source)]
    if not library.exists() and subprocess.run(words, check=False).returncode != 0:
        raise Missing("clock_jumps.c can't be compiled")
    with Place(setting.cache) as place:
        agent = place.agent("slow.py", ["0.1"], "hostile")
        words = [*POLITE, agent, "@first", "--clock", "50m", "--json", "--out", "x.jsonl"]
        words.remove("1h"), words.remove("--clock")
        ran = referee(setting, place, words, {"LD_PRELOAD": str(library)})
        lines = parsed(ran.stdout)
        got = verdict_of(lines[0]["verdict"], 0) if lines else f"exit code {ran.code}"
        problems = [] if got == "ok" else [got]
        stamps = [event.get("at_ns", 0) for event in
                  parsed((place.path / "x.jsonl").read_text(encoding="utf-8"))][1:-1]
        if stamps != sorted(stamps) or not stamps or stamps[-1] > 3000 * 10**9:
            problems.append("the stamps aren't those of a monotonic clock")
        return summed_up(problems + left_over(place), "ok")


def a_busy_machine(_row, setting):
    with Place(setting.cache) as place:
        agent = place.agent("burn.c", ["threads", "1", "200"], "hostile")
        script = "import time\nend = time.time() + 15\nwhile time.time() < end: pass"
        burners = [subprocess.Popen([python(), "-S", "-c", script]) for _ in range(8)]
        try:
            words = [*POLITE, agent, "@first", "--cpu", "--move-time", "500ms", "--backstop", "5m",
                     "--json", "--out", "x.jsonl"]
            words.remove("1h"), words.remove("--clock")
            ran = referee(setting, place, words)
        finally:
            for each in burners:
                each.kill()
                each.wait()
        lines = parsed(ran.stdout)
        got = verdict_of(lines[0]["verdict"], 0) if lines else f"exit code {ran.code}"
        # The match may be void because the machine lagged, but not lost.
        problems = [] if got in ("ok", "void lag") else [f"{got}, not ok"]
        return Result(got, problems + left_over(place), expected="ok or void lag")


def runtimes_in_little_memory(row, setting):
    return samples(row, setting, ("java", "javascript"), ["--limit", "memory_mb=256"], 1)


def sample_agents(row, setting):
    return samples(row, setting, LANGUAGES, [], 100)


def build_all(cache):
    """Builds the sample agents for a user without access to the compilers."""
    for language in LANGUAGES:
        with contextlib.suppress(Missing):
            built(language, cache)


def built(language, cache):
    """Builds a sample agent, once per run of the suite. Raises Missing."""
    with BUILDING:
        return build(language, cache)


def build(language, cache):
    import tomllib
    target = cache / f"sample-{language}"
    if not target.exists():
        source = HERE.parent.parent / "sample-agents" / language / "starter"
        making = cache / f"making-{language}-{os.getpid()}"
        ignored = shutil.ignore_patterns("bot", "classes", "target")
        shutil.copytree(source, making, ignore=ignored)
        manifest = tomllib.loads((making / "agent.toml").read_text(encoding="utf-8"))
        words = manifest.get("build", [])
        if words:
            words = [tool(words[0]), *words[1:]]
            environment = os.environ | {"GOCACHE": str(cache / "go"), "GOFLAGS": "-mod=mod"}
            ran = subprocess.run(words, cwd=making, env=environment, capture_output=True,
                                 text=True, check=False)
            if ran.returncode != 0:
                raise Missing(f"{language} can't be built: {ran.stderr.strip()[-150:]}")
        program = manifest["command"][0]
        if not (making / program).exists():
            tool(program)
        making.rename(target)
    return target


def samples(_row, setting, languages, options, games):
    problems, missing = [], []
    with Place(setting.cache) as place:
        for language in languages:
            try:
                shutil.copytree(built(language, setting.cache), place.path / language)
            except Missing as why:
                missing.append(f"{language}: {why}")
                continue
            words = [*POLITE, f"./{language}", "@first", *options, "--json",
                     "--games", str(games)]
            ran = referee(setting, place, words, within_s=1200)
            lines = parsed(ran.stdout)
            wrong = [line for line in lines if line["verdict"]["result"] != "played"]
            if ran.code != 0 or len(lines) != games or wrong or ran.hung:
                about = str(wrong[0]["verdict"])[:250] if wrong else ran.stderr.strip()[-250:]
                problems.append(f"{language}: {len(lines)} of {games} games, {about}")
        problems += left_over(place)
    if missing and not problems and len(missing) == len(languages):
        return not_tested("; ".join(missing))
    result = summed_up(problems, "ok")
    if missing:
        result.got += f", but not tested: {'; '.join(missing)}"
    return result
