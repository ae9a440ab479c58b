"""Starts descendants that are hard to get rid of, tells their process ids, and plays on.

Its argument says what it does in its turns: `plays`, `mute`, `exits`, `sleeps`, or `until:FILE`, which
waits until there is a file. Every process of it has this file's name in its command line, and one
more word: `family.py MODE [MARK]`.
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


def tell(who):
    os.write(2, f"pid {os.getpid()} {who}\n".encode())


def daemon(told):
    """A grandchild with a session of its own that ignores all signals and holds stdout."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            tell("daemon")
            os.close(told)
            stubborn()
        os._exit(0)
    os.wait()


def child(told):
    if os.fork() == 0:
        tell("child")
        os.close(told)
        stubborn()


tell("agent")
wait, told = os.pipe()
daemon(told)
child(told)
os.close(told)
# All have told their ids when the pipe ends.
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
