"""Rows about the machine and the sandbox: memory runs out; a layer is missing, skipped silently, or its
process is killed.

A variable injects these failures: REFEREE_SANDBOX_MISHAP=missing:LAYER, silent:LAYER or
killed:LAYER.
"""

import json

from . import machine, watch
from .checks import POLITE, left_over, referee, summed_up
from .matches import parsed, verdict_of, verified
from .place import Place

VARIABLE = "REFEREE_SANDBOX_MISHAP"
# The layers that each level adds.
OWN = {
    "basic": ["no new privileges", "limits", "watchdog"],
    "confined": ["scope", "landlock", "seccomp"],
    "isolated": ["userns", "pidns", "netns", "ipcns", "utsns", "cgroupns", "mounts"],
    "metered": ["cgroup"],
}


def layers(setting):
    """Returns the layers that the level adds; as root, agents also get their own users."""
    user = ["user"] if setting.user == "root" and setting.level == "basic" else []
    return OWN[setting.level] + user


def killed_at_a_layer(_row, setting):
    """The match is void, and no process is left."""
    problems = []
    for layer in layers(setting):
        with Place(setting.cache) as place:
            agent = place.agent("hostile.py", ["good"], "hostile")
            words = [*POLITE, agent, "@first", "--json", "--out", "x.jsonl"]
            ran = referee(setting, place, words, {VARIABLE: f"killed:{layer}"})
            lines = parsed(ran.stdout)
            got = verdict_of(lines[0]["verdict"], 0) if lines else "refused"
            # The self-test at the start may find it first.
            if not got.startswith("void") and got != "refused":
                problems.append(f"{layer}: {got}")
            problems += left_over(place)
    return summed_up(problems, "void or refused")


def memory_runs_out(_row, setting):
    """An agent takes what it may take and the machine doesn't have: the match is void, whoever is killed,
    and the text names who has how much."""
    alone = [("hostile", "private", 400), ("@first", "", 0)]
    problems = out_of_memory(setting, "itself", alone, "hostile", 0)
    # The system kills the largest: an honest agent that has had its memory since its first turn.
    honest = [("honest", "private", 120), ("hostile", "private", 110)]
    problems += out_of_memory(setting, "its opponent", honest, "honest", 0)
    spread = [("honest", "private", 60), ("hostile", "processes", 240)]
    problems += out_of_memory(setting, "its opponent, by small processes", spread, "honest", 1)
    return summed_up(problems, "void machine")


def out_of_memory(setting, case, agents, killed, counts_at):
    """Plays where 200 MB are left; returns what is wrong if the system doesn't kill this agent, or if the
    match isn't void at the seat `counts_at` and all agents named with their memory."""
    with Place(setting.cache) as place, machine.little_memory(place.token, 200) as entry:
        seats = [name if name.startswith("@") else
                 place.agent("memory.c", [how, str(megabytes)], name)
                 for name, how, megabytes in agents]
        words = [setting.referee, *POLITE, *seats, "--json", "--out", "x.jsonl",
                 "--limit", "memory_mb=1000", *setting.level_words()]
        ran = watch.run(words, place.path, place.environment(), 120,
                        before=lambda pid: entry.write_text(str(pid), encoding="ascii"))
        problems = left_over(place)
        lines = parsed(ran.stdout)
        if not lines:
            return [f"{case}: {it}" for it in (*problems, f"refused: {ran.stderr.strip()[:200]}")]
        void, verdict = lines[0]["verdict"].get("void") or {}, lines[0]["verdict"]
        if (void.get("cause"), void.get("seat")) != ("machine", counts_at):
            problems.append(f"{verdict}")
        grown = [f"{name} (seat {seat}) " for seat, (name, _, megabytes) in enumerate(agents) if megabytes]
        wanted = ["no memory left", f"killed {killed} (seat 0)", *grown]
        missing = [it for it in wanted if it not in void.get("text", "")]
        problems += [f"not said: {missing}, but {void.get('text')}"] if missing else []
        problems += verified(setting, place, place.environment(), ["x.jsonl"])
    return [f"{case}: {it}" for it in problems]


def a_missing_layer(_row, setting):
    """The requested level is refused, with the layer's name."""
    problems = []
    for layer in layers(setting):
        with Place(setting.cache) as place:
            ran = referee(setting, place, [*POLITE, "@first", "@first", "--json"],
                          {VARIABLE: f"missing:{layer}"})
            if ran.code == 0 or ran.stdout.strip():
                problems.append(f"{layer}: it starts")
            elif setting.level != "metered" and layer not in ran.stderr:
                problems.append(f"{layer}: not named: {ran.stderr.strip()[:120]}")
            problems += left_over(place)
    return summed_up(problems, "refused")


def a_missing_layer_with_auto(_row, setting):
    """The next weaker level is used and recorded, and `-v` prints why; except for `metered`, which few
    machines support."""
    problems = []
    weaker = {"confined": "basic", "isolated": "confined", "metered": "isolated"}
    for layer in layers(setting):
        with Place(setting.cache) as place:
            unset = type(setting)(**{**vars(setting), "levels_known": False})
            words = [*POLITE, "@first", "@first", "--json", "--out", "x.jsonl", "--sandbox", "auto",
                     "-v"]
            ran = referee(unset, place, words, {VARIABLE: f"missing:{layer}"})
            lines = parsed(ran.stdout)
            got = lines[0]["sandbox"]["level"] if lines else ran.stderr.strip()[:150]
            if got != weaker[setting.level]:
                problems.append(f"{layer}: {got}, not {weaker[setting.level]}")
            elif setting.level != "metered" and layer not in ran.stderr:
                problems.append(f"{layer}: not named: {ran.stderr.strip()[:150]}")
            problems += left_over(place)
    return summed_up(problems, "the next level")


def a_silent_layer(_row, setting):
    """The self-test notices that the level doesn't hold."""
    problems = []
    for layer in layers(setting):
        with Place(setting.cache) as place:
            ran = referee(setting, place, ["doctor", "--json", "--level", setting.level],
                          {VARIABLE: f"silent:{layer}"})
            try:
                found = [it for it in json.loads(ran.stdout)["levels"]
                         if it["level"] == setting.level]
            except ValueError:
                problems.append(f"{layer}: doctor: {ran.stderr.strip()[:120]}")
                continue
            if any(it["holds"] for it in found):
                problems.append(f"{layer}: not noticed")
            # Others may fail with it: without mounts there is no own /proc.
            failed = {probe["layer"] for it in found for probe in it["probes"] if not probe["held"]}
            if layer not in failed:
                problems.append(f"{layer}: not named, but {sorted(failed)}")
            problems += left_over(place)
    return summed_up(problems, "noticed")
