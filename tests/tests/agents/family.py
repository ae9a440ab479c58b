"""Starts descendants that are hard to kill, prints their process ids to stderr, and plays on.

usage: family.py MODE [MARK]

MODE is what it does in its turns: `plays`, `mute`, `exits`, `sleeps`, or `until:FILE`, which waits for
a file. All its processes have this command line.
"""
import json
import os
import signal
import sys
import time


def stubborn():
    for number in range(1, signal.NSIG):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    while True:
        time.sleep(60)


def report(who):
    os.write(2, f"pid {os.getpid()} {who}\n".encode())


def leave_session():
    """From level `confined` on it can leave only its process group."""
    try:
        os.setsid()
    except PermissionError:
        os.setpgid(0, 0)


def daemon(reported):
    """A grandchild in its own session that ignores all signals and keeps stdout open."""
    if os.fork() == 0:
        leave_session()
        if os.fork() == 0:
            report("daemon")
            os.close(reported)
            stubborn()
        os._exit(0)
    os.wait()


def child(reported):
    if os.fork() == 0:
        report("child")
        os.close(reported)
        stubborn()


report("agent")
wait, reported = os.pipe()
daemon(reported)
child(reported)
os.close(reported)
# The pipe ends when all have printed their ids.
os.read(wait, 1)
for text in sys.stdin:
    message = json.loads(text)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "want": ["actions"]}), flush=True)
    elif message["type"] == "turn":
        mode = sys.argv[1]
        if mode == "mute":
            continue
        if mode == "exits":
            os._exit(1)
        if mode == "sleeps":
            time.sleep(0.3)
        while mode.startswith("until:") and not os.path.exists(mode[6:]):
            time.sleep(0.05)
        answer = {"type": "action", "action": message["actions"][0]}
        print(json.dumps(answer), flush=True)
