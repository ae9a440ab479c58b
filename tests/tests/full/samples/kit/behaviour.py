"""A bot on the Python kit that makes a mistake of students' bots; its argument selects which.

    noisy    prints in many ways, before and during its turns, and reads its input
    logs     logs the players and the actions, and sends an info; `want`s all
    fails    raises an exception in its second turn
    misuses  passes an invalid action to the kit
    wrong    returns something that is not an action
    resigns  resigns in its second turn
    spoils   changes the game that it was given
    again    plays further matches
"""
import ctypes
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[5] / "sample-agents" / "python" / "starter"))
from referee_kit import info, log, run  # noqa: E402  (it is in another folder)


def noise():
    print("a stray print, flushed", flush=True)
    print("a stray print")
    sys.stdout.write("a stray write\n")
    sys.__stdout__.write("a stray write to the first stdout\n")
    sys.__stdout__.flush()
    os.write(1, b"stray bytes\n")
    subprocess.run([sys.executable, "-c", "print('a stray child', input('asks: '))"])
    library = ctypes.CDLL(None)
    library.puts(b"a stray puts")
    library.fflush(None)


def choose(game):
    mode, actions = sys.argv[1], game.actions()
    second_turn = game.turn >= len(game.seats)
    if mode == "noisy":
        noise()
        assert sys.stdin.read() == "", "only the kit reads the referee's lines"
    if mode == "logs":
        log("seats", [seat["name"] for seat in game.seats], "left", game.left_ms)
        log("listed", len(game.message["actions"]), "own", len(actions))
        info(score=float("-inf"), depth=3, text="näher", cells={actions[0]["at"]: 0.5}, nodes=7)
        info(score=float("nan"))
    if mode == "fails" and second_turn:
        info(text="about to fail")
        return actions[len(actions)]
    if mode == "misuses":
        return game.after({"type": "place"}).actions()[0]
    if mode == "wrong":
        return "c4"
    if mode == "spoils":
        game.pieces.clear()
        game.pieces.update(dict.fromkeys(game.cells, 0))
        game.play(actions[0])
        game.seats, game.turn = [], 99
    return None if mode == "resigns" and second_turn else actions[0]


# Text that is still buffered when the kit starts.
print("printed before", end="\n" if sys.argv[1] == "noisy" else "\r")
run(choose, name="behaviour", want=["position", "actions"] if sys.argv[1] == "logs" else [],
    again=sys.argv[1] == "again")
