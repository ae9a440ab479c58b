#!/usr/bin/env python3
"""Many teams hand in just before a deadline, while games run and the referee is killed again and again.

    tests/course_rush.py PROGRAM [--teams 200] [--seconds 120] [--kills 5] [--seed 1]

A ladder of built-in agents at Hex 5, with the site. Each team hands in at a random moment, and again until it is
answered; half of them hand in a second version. The referee gets SIGKILL at random moments and is started again.
At the end every upload that was answered with success must be there exactly once, with the bytes that were sent,
also for a referee that is started anew. Every other answer must name a limit. Prints how long the standings took
to answer meanwhile.
"""

import argparse
import hashlib
import http.client
import json
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

FILE = """name = "rush"
seed = 1
format = "ladder"
rounds = 1000
agents = ["@random", "@first", "@greedy", "random-2=@random"]
clock = "10s"
[policy]
on_lag = "mark"
[[games]]
game = "hex"
setup = { size = 5 }
"""
# The timeout of everything that waits.
PATIENCE_S = 600
# Between two tries of a team, and between two looks at the standings.
PAUSE_S = 0.5


def free_port():
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        return own.getsockname()[1]


class Course:
    """The referee, which is started again after each kill."""

    def __init__(self, program, folder, port):
        self.program, self.folder, self.port = program, folder, port
        self.running = None

    def start(self, *words):
        words = [self.program, "contest", "open", *words, f"--web=127.0.0.1:{self.port}"]
        with open(os.path.join(self.folder, "log"), "a") as log:
            self.running = subprocess.Popen(words, cwd=self.folder, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            if self.running.poll() is not None:
                sys.exit(f"the referee ended with {self.running.returncode}: see {self.folder}/log")
            try:
                if self.ask("GET", "/healthz")[0] == 200:
                    return
            except OSError:
                time.sleep(0.1)
        sys.exit("the site does not start")

    def kill(self):
        self.running.send_signal(signal.SIGKILL)
        self.running.wait(timeout=PATIENCE_S)

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except http.client.HTTPException as error:
            raise OSError(str(error)) from error
        finally:
            connection.close()

    def team(self, secret):
        status, body = self.ask("GET", "/api/team", headers={"Authorization": f"Bearer {secret}"})
        assert status == 200, (status, body)
        return json.loads(body)


def form(name, data):
    head = f'--rush\r\ncontent-disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return head.encode() + data + b"\r\n--rush--\r\n"


class Team(threading.Thread):
    """Hands in until it is answered."""

    def __init__(self, course, secret, delays, seed):
        super().__init__()
        self.course, self.secret, self.delays, self.seed = course, secret, delays, seed
        self.accepted, self.refused, self.tries = [], [], 0

    def run(self):
        for delay in self.delays:
            time.sleep(delay)
            while not self.hand_in():
                time.sleep(PAUSE_S)

    def hand_in(self):
        # Other bytes each time: an upload whose answer was lost may have arrived.
        self.tries += 1
        rest = random.Random(f"{self.seed} {self.tries}").randbytes(20_000).hex()
        data = f"# {self.seed} {self.tries}\nexit 1\n# {rest}\n".encode()
        headers = {"Authorization": f"Bearer {self.secret}",
                   "Content-Type": "multipart/form-data; boundary=rush"}
        try:
            status, body = self.course.ask("POST", "/api/team/versions", form("bot.sh", data), headers)
        except OSError:
            return False
        if status == 201:
            self.accepted.append((json.loads(body)["version"], hashlib.sha256(data).hexdigest()))
        else:
            self.refused.append((status, json.loads(body)))
        return True


def look(course, times, over):
    """Notes how long the standings take to answer."""
    while not over.wait(PAUSE_S):
        began = time.monotonic()
        try:
            if course.ask("GET", "/api/contest?folder=")[0] == 200:
                times.append(time.monotonic() - began)
        except OSError:
            pass


def check(course, teams):
    """Every upload that was answered is there once, under its number."""
    for team in teams:
        there = {version["version"]: version["sha256"] for version in course.team(team.secret)["versions"]}
        assert sorted(there) == list(range(1, len(there) + 1)), there
        for version, digest in team.accepted:
            assert there.get(version) == digest, (version, digest, there)
        digests = list(there.values())
        assert len(set(digests)) == len(digests), digests
        numbers = [version for version, _ in team.accepted]
        assert numbers == sorted(set(numbers)), numbers


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--teams", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    folder = tempfile.mkdtemp(prefix="referee-rush-")
    # If the referee runs as root, agents have their own users.
    os.chmod(folder, 0o755)
    with open(os.path.join(folder, "rush.toml"), "w") as file:
        file.write(FILE)
    course = Course(os.path.abspath(options.program), folder, free_port())
    course.start("rush.toml", "--out", "d")
    names = "name\n" + "".join(f"Team {number}\n" for number in range(1, options.teams + 1))
    with open(os.path.join(folder, "teams.csv"), "w") as file:
        file.write(names)
    made = subprocess.run([course.program, "contest", "teams", "d", "--from", "teams.csv", "--json"],
                          cwd=folder, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    secrets = [team["link"].split("#")[1] for team in json.loads(made.stdout)["teams"]]
    teams = []
    for number, secret in enumerate(secrets):
        delays = [draw.uniform(0, options.seconds)]
        if number % 2:
            delays.append(draw.uniform(0, options.seconds - delays[0]))
        teams.append(Team(course, secret, delays, f"{options.seed} {number}"))
    times, over = [], threading.Event()
    watching = threading.Thread(target=look, args=(course, times, over))
    watching.start()
    kills = sorted(draw.uniform(0, options.seconds) for _ in range(options.kills))
    began = time.monotonic()
    for team in teams:
        team.start()
    for kill in kills:
        time.sleep(max(0, began + kill - time.monotonic()))
        course.kill()
        course.start("d")
    for team in teams:
        team.join()
    over.set()
    watching.join()
    check(course, teams)
    course.kill()
    course.start("d")
    check(course, teams)
    course.kill()
    accepted = sum(len(team.accepted) for team in teams)
    tries = sum(team.tries for team in teams)
    refused = [refusal for team in teams for refusal in team.refused]
    assert all("(" in body["error"] for _, body in refused), refused
    times.sort()
    print(f"{accepted} uploads of {options.teams} teams were answered, {len(refused)} refused, {tries} tries, "
          f"{options.kills} kills; the standings answered in {statistics.median(times):.3f} s (median of "
          f"{len(times)}), 95 % in {times[len(times) * 95 // 100]:.3f} s")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
