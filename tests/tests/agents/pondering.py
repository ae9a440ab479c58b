"""Sleeps for its argument in seconds, plays the first legal action, and uses CPU time between its turns.
Prints that CPU time in milliseconds to stderr, one line per turn.
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
