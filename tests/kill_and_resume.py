#!/usr/bin/env python3
"""Kills a contest repeatedly at random moments, and resumes it each time.

    tests/kill_and_resume.py PROGRAM [--kills 200] [--games 2000] [--seed 1] [--sandbox LEVEL] [--changes]
                             [--game DIR]

A round robin of eight built-in agents at Hex 5. The referee gets SIGKILL. At the end every planned
game must be in the store exactly once, `verify` must pass, and no process of an agent may be left.
During some of the kills a reader has the store open, because that changes what a kill leaves of a
commit. With --changes players join late, agents are replaced and games played again between the runs, and
the commands that do it are killed too. With --game the game program in DIR is played; `verify` reads the
contest at another place, when that program is gone.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

AGENTS = ["@random", "@first", "@greedy", "@minimax:1", "random-2=@random", "first-2=@first",
          "greedy-2=@greedy", "minimax-2=@minimax:1"]
# For game programs, all of which they play.
GAME_AGENTS = [f"{agent}-{number}=@{agent}" for agent in ("random", "first") for number in range(4)]
PAIRS = len(AGENTS) * (len(AGENTS) - 1) // 2
# An agent that plays the first legal action.
BOT = """import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "want": ["actions"]}), flush=True)
    elif message["type"] == "turn":
        print(json.dumps({"type": "play", "turn": message["turn"],
                          "action": message["actions"][0]}), flush=True)
"""
# The timeout of a run of a few games.
PATIENCE_S = 600


def run(program, *words):
    ran = subprocess.run([program, *words], capture_output=True, text=True, timeout=PATIENCE_S)
    if ran.returncode != 0:
        sys.exit(f"{words} ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def played(folder):
    """Returns the games in the store."""
    path = os.path.join(folder, "contest.db")
    if not os.path.exists(path):
        return 0
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as store:
        return store.execute("select count(*) from games").fetchone()[0]


def begun_games(folder):
    """Returns how many games have a transcript, finished or not."""
    games = os.path.join(folder, "games")
    blocks = os.listdir(games) if os.path.exists(games) else []
    return sum(len(os.listdir(os.path.join(games, block))) for block in blocks)


def reader(folder):
    """Opens a reader, which keeps the shared memory of the store's log alive after a kill."""
    path = os.path.join(folder, "contest.db")
    store = sqlite3.connect(path, timeout=30)
    store.execute("select count(*) from games").fetchall()
    return store


def next_command(file, folder):
    """Returns the command that begins the contest, or resumes it."""
    begun = os.path.exists(os.path.join(folder, "contest.db"))
    return ["resume", folder] if begun else ["run", file, "--out", folder]


def changes(folder, place, draw):
    """Returns commands that change the contest: late players, new versions, games played again."""
    late = os.path.join(place, "late")
    os.makedirs(late, exist_ok=True)
    with open(os.path.join(late, "agent.toml"), "w", encoding="utf-8") as text:
        text.write(f'command = ["{sys.executable}", "bot.py"]\n')
    with open(os.path.join(late, "bot.py"), "w", encoding="utf-8") as text:
        text.write(f"# {draw.random()}\n" + BOT)
    reason = ["--reason", "a kill test"]
    numbers = [str(draw.randrange(100)) for _ in range(3)]
    return draw.choice([
        ["add", folder, late, "--name", "late", *reason],
        ["replace", folder, "late", late, *reason],
        ["rerun", folder, *numbers, *reason],
        ["rerun", folder, "--agent", "late", *reason],
    ])


def change(program, folder, place, draw):
    """Changes the contest, and returns 1 if the command was killed."""
    words = changes(folder, place, draw)
    process = subprocess.Popen([program, "contest", *words, "-q"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    try:
        _, error = process.communicate(timeout=draw.choice([draw.uniform(0, 0.5), PATIENCE_S]))
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return 1
    # 2: no such player yet, or a game without a result.
    if process.returncode not in (0, 2):
        sys.exit(f"{words} ended with {process.returncode}: {error.decode()}")
    return 0


def agents_alive(mark):
    """Returns the processes whose environment names this run's temporary folder."""
    alive = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as environ:
                if mark.encode() in environ.read() and int(pid) != os.getpid():
                    alive.append(int(pid))
        except OSError:
            continue
    return alive


def check_sums(folder):
    """Checks the files that the contest's list of digests has so far."""
    if os.path.exists(os.path.join(folder, "SHA256SUMS")):
        subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sandbox", default="auto", help="a level")
    parser.add_argument("--changes", action="store_true", help="change the contest between runs")
    parser.add_argument("--game", help="the folder of a game program")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    program = os.path.abspath(options.program)
    with tempfile.TemporaryDirectory(prefix="kill-and-resume-") as place:
        # As root, agents have their own users.
        os.chmod(place, 0o755)
        os.environ["TMPDIR"] = place
        folder = os.path.join(place, "contest")
        rounds = -(-options.games // (2 * PAIRS))
        file = os.path.join(place, "contest.toml")
        agents, plies, game = AGENTS, 2, '"hex"\nsetup = { size = 5 }'
        if options.game:
            shutil.copytree(options.game, os.path.join(place, "game"))
            agents, plies, game = GAME_AGENTS, 1, '"./game"'
        with open(file, "w", encoding="utf-8") as text:
            text.write(f'name = "killed"\nseed = {options.seed}\nrounds = {rounds}\n'
                       f'agents = {json.dumps(agents)}\nclock = "1h"\n[openings]\nplies = {plies}\n'
                       f'[sandbox]\nlevel = "{options.sandbox}"\n[[games]]\ngame = {game}\n')
        planned = json.loads(run(program, "contest", "plan", file, "--json"))["games"]
        if planned != rounds * 2 * PAIRS:
            sys.exit(f"{planned} games are planned, not {rounds * 2 * PAIRS}")

        killed = 0
        kills, begun, looking, early = 0, time.monotonic(), None, 0.3
        while kills < options.kills:
            if looking is not None and draw.random() < 0.5:
                looking.close()
                looking = None
            left = planned - played(folder)
            if looking is None and left < planned:
                looking = reader(folder)
            # Leaves games for the last kill. Some kills come early, during the self-test of the sandbox or while
            # the folder is created.
            games = draw.randint(0, left // (options.kills - kills + 1))
            until = time.monotonic() + (PATIENCE_S if games else draw.uniform(0, early))
            words, before = next_command(file, folder), begun_games(folder)
            process = subprocess.Popen([program, "contest", *words, "-q"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            while (process.poll() is None and time.monotonic() < until
                   and begun_games(folder) < before + max(games, 1)):
                time.sleep(0.005)
            try:
                code = process.wait(draw.uniform(0, 0.05))
                if code != 0:
                    sys.exit(f"{words} ended with {code}: {process.stderr.read().decode()}")
                break
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                process.stderr.close()
            kills += 1
            check_sums(folder)
            if options.changes and played(folder) and draw.random() < 0.5:
                killed += change(program, folder, place, draw)
            early = min(early * 1.3, 2)
        ended_early = kills < options.kills
        if looking is not None:
            looking.close()

        print(run(program, "contest", *next_command(file, folder), "-q"), end="")
        status = json.loads(run(program, "contest", "status", folder, "--json"))
        made = 0
        if options.changes:
            planned = status["games"]
            made = len(json.loads(run(program, "contest", "report", folder, "--json")).get("changes", []))
        with contextlib.closing(sqlite3.connect(os.path.join(folder, "contest.db"))) as store:
            numbers = [row[0] for row in store.execute("select number from games order by number")]
        if numbers != list(range(planned)) or status["played"] != planned or not status["over"]:
            sys.exit(f"{len(numbers)} games are stored, {planned} were planned: {status}")
        check_sums(folder)
        if options.game:
            shutil.rmtree(os.path.join(place, "game"))
            folder = shutil.move(folder, os.path.join(place, "elsewhere"))
        verified = [json.loads(line) for line in run(program, "verify", folder, "--json").split("\n")
                    if line]
        wrong = [line for line in verified if line["status"] != "ok"]
        if wrong or len(verified) < planned:
            sys.exit(f"verify: {len(verified)} lines, {len(wrong)} not ok: {wrong[:3]}")
        alive = agents_alive(place)
        for _ in range(600):
            if not alive:
                break
            time.sleep(0.1)
            alive = agents_alive(place)
        if alive:
            sys.exit(f"processes are left: {alive}")
        if ended_early:
            sys.exit(f"the contest ended after {kills} kills; give it more games")
        if options.changes:
            print(f"{made} changes, {killed} of their commands killed")
        print(f"{kills} kills, {planned} games, each once; verify agrees; "
              f"{time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
