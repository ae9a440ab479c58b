"""An agent with one defect, for the tests of `check`: broken.py DEFECT."""

import json
import os
import subprocess
import sys
import time

DEFECT = sys.argv[1]
# For `twice`: its previous answer.
LAST = []
SETUP = {}
# For `fourth_start`: how often it was started.
STARTS = 0
if DEFECT == "fourth_start":
    with open(sys.argv[2], "a+") as starts:
        starts.write(".")
        starts.seek(0)
        STARTS = len(starts.read())


def say(message):
    print(json.dumps(message), flush=True)


def work(seconds):
    """Uses this much CPU time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def act(turn, action):
    say({"type": "action", "turn": turn["turn"], "action": action})


def on_hello(hello):
    if DEFECT == "crash_at_start":
        raise RuntimeError("no book of openings")
    SETUP.update(hello["setup"])
    if DEFECT == "leaves_at_start":
        sys.exit(0)
    if DEFECT == "sleeper":
        time.sleep(5)
    if DEFECT == "mute_at_start":
        return
    if DEFECT == "wrong_field":
        say({"type": "ready", "nmae": "bot", "want": ["actions"]})
        return
    if DEFECT == "banner":
        print("bot 1.0, ready to play", flush=True)
    if DEFECT == "ascii_names":
        for seat in hello["seats"]:
            seat["name"].encode("ascii")
    if DEFECT == "strict_fields" and "x_new" in hello:
        raise ValueError(f"unknown field in hello: {hello.popitem()}")
    if DEFECT == "leaves_a_child":
        # Without the pipes, so it would keep running.
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        subprocess.Popen(["sleep", "60"], stderr=subprocess.DEVNULL, **quiet)
    say({"type": "ready", "want": ["actions"]})


def on_turn(turn, seat, count):
    action = turn["actions"][0]
    if DEFECT == "never_passes" and action["type"] == "pass":
        return
    if DEFECT == "no_positions" and "position" in SETUP:
        action = {"type": "move", "from": [-3, 0], "to": [-2, 0]}
    if DEFECT == "no_flush":
        sys.stdout.write(json.dumps({"type": "action", "action": action}) + "\n")
        return
    if DEFECT == "no_newline":
        print(json.dumps({"type": "action", "action": action}), end="", flush=True)
        return
    if DEFECT == "prompt":
        input("Your move: ")
    if DEFECT == "not_a_number":
        say({"type": "info", "score": float("nan")})
    if DEFECT == "indented":
        print(json.dumps({"type": "action", "action": action}, indent=2), flush=True)
        return
    if DEFECT == "long_line":
        say({"type": "info", "text": "x" * 100000})
    if DEFECT == "closes" and count == 2:
        os.close(1)
        time.sleep(60)
    if DEFECT == "fourth_start" and STARTS >= 4:
        act(turn, {"type": "place", "at": [99, 99]})
        return
    if DEFECT == "second_turn" and count == 2:
        raise KeyError("second turn")
    if DEFECT == "endless":
        while True:
            pass
    if DEFECT == "slow":
        time.sleep(1.5)
    if DEFECT == "python_repr":
        print({"type": "action", "action": action}, flush=True)
        return
    if DEFECT == "debug_text":
        print("considering", len(turn["actions"]), "actions", flush=True)
    if DEFECT == "wrong_type":
        action = {**action, "at": [str(place) for place in action["at"]]}
    if DEFECT == "off_the_board":
        action = {"type": "place", "at": [0, 11]}
    if DEFECT == "wrong_turn":
        turn["turn"] += 1
    if DEFECT == "only_first_seat" and seat == 1:
        raise IndexError("list index out of range")
    if DEFECT == "short_of_breath" and count > 20:
        raise RecursionError("maximum recursion depth exceeded")
    if DEFECT == "twice" and LAST:
        act(*LAST)
        return
    LAST[:] = turn, action
    act(turn, action)
    if DEFECT == "ponders_aloud":
        # Later than an opponent that answers at once, also on a busy machine, and earlier than one that
        # thinks.
        time.sleep(0.2)
        say({"type": "info", "text": "pondering"})


def main():
    seat, count = None, 0
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            seat = message["seat"]
            on_hello(message)
        elif kind == "turn":
            count += 1
            on_turn(message, seat, count)
        elif kind == "over":
            if DEFECT == "stays":
                time.sleep(60)
            if DEFECT == "burns_on":
                work(3600)
            if DEFECT == "ends_slowly":
                work(1.5)
            break
        elif DEFECT == "no_swap" and kind == "played":
            message["action"]["at"].copy()
        elif DEFECT == "three_players" and kind == "retired":
            raise NotImplementedError("games of two")
        elif DEFECT == "strict_types" and kind != "played":
            raise ValueError(f"unknown message {kind}")
    if DEFECT == "waits_for_more" and kind != "over":
        time.sleep(60)


main()
# Exit without writing Python's buffered output.
if DEFECT == "no_flush":
    os._exit(0)
