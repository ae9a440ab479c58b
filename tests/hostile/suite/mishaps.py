"""Rows about the sandbox itself: a layer that is missing, left out silently, or killed.

The referee has a switch for tests: REFEREE_SANDBOX_MISHAP, which is missing:LAYER, silent:LAYER or
killed:LAYER.
"""



import json

from .checks import POLITE, left_over, referee, summed_up
from .matches import parsed, verdict_of
from .place import Place

SWITCH = "REFEREE_SANDBOX_MISHAP"
# What each level has that the one before hasn't.
OWN = {
    "basic": ["no new privileges", "limits", "watchdog"],
    "confined": ["scope", "landlock", "seccomp"],
    "isolated": ["userns", "pidns", "netns", "ipcns", "utsns", "cgroupns", "mounts"],
    "metered": ["cgroup"],
}


def layers(setting):
    """The level's own layers; as root agents have a user each besides."""
    user = ["user"] if setting.user == "root" and setting.level == "basic" else []
    return OWN[setting.level] + user


def killed_at_a_layer(_row, setting):
    """The match is void, nobody's loss, and nothing is left."""
    problems = []
    for layer in layers(setting):
        with Place(setting.cache) as place:
            agent = place.agent("hostile.py", ["good"], "hostile")
            words = [*POLITE, agent, "@first", "--json", "--out", "x.jsonl"]
            ran = referee(setting, place, words, {SWITCH: f"killed:{layer}"})
            lines = parsed(ran.stdout)
            got = verdict_of(lines[0]["verdict"], 0) if lines else "refused"
            # The self-test at the start may find it first.
            if not got.startswith("void") and got != "refused":
                problems.append(f"{layer}: {got}")
            problems += left_over(place)
    return summed_up(problems, "void or refused")


def a_missing_layer(_row, setting):
    """The level asked for is refused, with the layer's name."""
    problems = []
    for layer in layers(setting):
        with Place(setting.cache) as place:
            ran = referee(setting, place, [*POLITE, "@first", "@first", "--json"],
                          {SWITCH: f"missing:{layer}"})
            if ran.code == 0 or ran.stdout.strip():
                problems.append(f"{layer}: it starts")
            elif setting.level != "metered" and layer not in ran.stderr:
                problems.append(f"{layer}: not named: {ran.stderr.strip()[:120]}")
            problems += left_over(place)
    return summed_up(problems, "refused")


def a_missing_layer_with_auto(_row, setting):
    """The next weaker level is taken, told, and in the transcript. Why there is no `metered` is told only
    to whoever asks for it."""
    problems = []
    weaker = {"confined": "basic", "isolated": "confined", "metered": "isolated"}
    for layer in layers(setting):
        with Place(setting.cache) as place:
            unset = type(setting)(**{**vars(setting), "levels_known": False})
            words = [*POLITE, "@first", "@first", "--json", "--out", "x.jsonl", "--sandbox", "auto"]
            ran = referee(unset, place, words, {SWITCH: f"missing:{layer}"})
            lines = parsed(ran.stdout)
            got = lines[0]["sandbox"]["level"] if lines else ran.stderr.strip()[:150]
            if got != weaker[setting.level]:
                problems.append(f"{layer}: {got}, not {weaker[setting.level]}")
            elif setting.level != "metered" and layer not in ran.stderr:
                problems.append(f"{layer}: not told: {ran.stderr.strip()[:150]}")
            problems += left_over(place)
    return summed_up(problems, "the next level")


def a_silent_layer(_row, setting):
    """The self-test finds it: the level isn't had."""
    problems = []
    for layer in layers(setting):
        with Place(setting.cache) as place:
            ran = referee(setting, place, ["doctor", "--json", "--level", setting.level],
                          {SWITCH: f"silent:{layer}"})
            try:
                found = [it for it in json.loads(ran.stdout)["levels"]
                         if it["level"] == setting.level]
            except ValueError:
                problems.append(f"{layer}: doctor: {ran.stderr.strip()[:120]}")
                continue
            if any(it["holds"] for it in found):
                problems.append(f"{layer}: not noticed")
            # Others may fail with it: without mounts there is no /proc of its own.
            failed = {probe["layer"] for it in found for probe in it["probes"] if not probe["held"]}
            if layer not in failed:
                problems.append(f"{layer}: not named, but {sorted(failed)}")
            problems += left_over(place)
    return summed_up(problems, "noticed")
