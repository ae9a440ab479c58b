"""Plays the first legal action after a nap of so many seconds as its argument says, and burns CPU
time while it isn't asked. Tells on stderr, a number of milliseconds a turn, how much that was.
"""
import json
import sys
import threading
import time

asked = threading.Event()
done = threading.Event()


def ponder():
    while True:
        done.wait()
        while not asked.is_set():
            pass
        done.clear()


def say(message):
    print(json.dumps(message), flush=True)


NAP = float(sys.argv[1])
threading.Thread(target=ponder, daemon=True).start()
before = None
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        say({"type": "ready", "want": ["actions"]})
    elif message["type"] == "turn":
        asked.set()
        if before is not None:
            print(round((time.process_time() - before) * 1000), file=sys.stderr, flush=True)
        time.sleep(NAP)
        before = time.process_time()
        asked.clear()
        done.set()
        say({"type": "action", "action": message["actions"][0]})
