"""Plays the first legal action, and misbehaves as its first argument says.

Each mode is a function below. It acts at the start (before `ready`), once it is ready, or in each of its
turns. The expected results are in tests/hostile/faults.toml.
"""
import json
import os
import resource
import signal
import sys
import time


def write(data):
    """Writes all bytes to stdout, as one write if the pipe accepts it."""
    while data:
        data = data[os.write(1, data):]


def line(message, end=b"\n"):
    return json.dumps(message).encode() + end


def first(turn):
    return {"type": "action", "turn": turn["turn"], "action": turn["actions"][0]}


def forever():
    while True:
        time.sleep(60)


def burn():
    while True:
        pass


class Agent:
    """A well-behaved agent; modes replace parts of it."""

    ready = {"type": "ready", "want": ["actions"]}

    def __init__(self):
        self.turns = 0

    def start(self):
        write(line(self.ready))

    def turn(self, turn):
        write(line(first(turn)))

    def over(self):
        pass


AGENT = Agent()


def at_start(action):
    AGENT.start = action


def in_turns(action):
    AGENT.turn = action


def in_turn(number, action):
    """Misbehaves in its own turn with this number, counted from 0."""
    def turn(message):
        AGENT.turns += 1
        if AGENT.turns == number + 1:
            action(message)
        else:
            write(line(first(message)))
    AGENT.turn = turn


def says(text):
    """Answers its first turn with these bytes and a line end."""
    in_turns(lambda turn: write(text + b"\n"))


def action_with(fields):
    in_turns(lambda turn: write(line(first(turn) | fields)))


def closing_stdin():
    os.close(0)
    write(line(AGENT.ready))
    forever()


def closing_stdout():
    write(line(AGENT.ready))
    os.close(1)
    forever()


def padded(length):
    def turn(message):
        text = line(first(message), end=b"")
        write(text + b" " * (length - len(text)) + b"\n")
    return turn


def nested(depth):
    info = b'{"type":"info","deep":' + b"[" * depth + b"]" * depth + b"}\n"
    return lambda turn: (write(info), write(line(first(turn))))


def exiting_at_start(status):
    # After the opponent is ready, so that the order of events is fixed.
    time.sleep(1)
    sys.exit(status)


def without_end(turn):
    write(line(first(turn), end=b""))
    sys.exit(0)


def byte_by_byte(turn):
    for byte in line(first(turn)):
        write(bytes([byte]))
        time.sleep(0.001)


def endless_line(turn):
    for _ in range(100):
        write(b"x" * 1_000_000)
    write(b"\n")
    forever()


def much_info(turn):
    for _ in range(100):
        write(line({"type": "info", "text": "y" * 900}))
    write(line(first(turn)))


def flooding_until(end_s):
    """Writes blank lines for so long, and then its answer."""
    def turn(message):
        begun = time.monotonic()
        while time.monotonic() - begun < end_s:
            write(b"\n" * 65_536)
        write(line(first(message)))
    return turn


def among_sleepers(count):
    """Has many children that sleep, and writes 20 kB of info in each turn."""
    def turn(message):
        if AGENT.turns == 0:
            for _ in range(count):
                if os.fork() == 0:
                    forever()
        AGENT.turns += 1
        write(b'{"type":"info"}\n' * 1_250 + line(first(message)))
    return turn


def noisy(turn):
    if turn["turn"] == 0:
        os.write(2, b"the head\n")
        for _ in range(50):
            sys.stderr.write("z" * 1_000_000)
        sys.stderr.flush()
        os.write(2, b"the tail\n")
    write(line(first(turn)))


def garish(turn):
    os.write(2, b"\x1b[31mEVIL\x1b]0;EVIL\x07 \xc2\x9b31mEVIL\n")
    write(b'{"type":"action","\\u001b[31mEVIL":1,"action":{}}\n')


def allocating(mebibytes):
    def turn(message):
        AGENT.hoard = bytearray(os.urandom(1 << 20) * mebibytes)
        forever()
    return turn


def forking(count):
    def turn(message):
        for _ in range(count):
            if os.fork() == 0:
                forever()
        forever()
    return turn


def answering_then_exiting(status):
    def turn(message):
        write(line(first(message)))
        sys.exit(status)
    return turn


def burning_child(turn):
    if os.fork() == 0:
        burn()
    forever()


def lingering():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    forever()


def killing_itself(number):
    def turn(message):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), number)
        forever()
    return turn


def set_up(mode, argument):
    if mode == "good":
        pass
    elif mode == "never-reads":
        at_start(lambda: (write(line(AGENT.ready)), forever()))
    elif mode == "closes-stdin":
        at_start(closing_stdin)
    elif mode == "closes-stdout":
        at_start(closing_stdout)
    elif mode == "never-ready":
        at_start(forever)
    elif mode == "exits-at-start":
        at_start(lambda: exiting_at_start(int(argument)))
    elif mode == "starts-slowly":
        at_start(lambda: (time.sleep(float(argument)), write(line(AGENT.ready))))
    elif mode == "ready-with":
        AGENT.ready = Agent.ready | json.loads(argument)
    elif mode == "ready-twice":
        at_start(lambda: write(line(AGENT.ready) * 2))
    elif mode == "ready-then":
        at_start(lambda: write(line(AGENT.ready) + argument.encode() + b"\n"))
    elif mode == "says":
        says(argument.encode().decode("unicode_escape").encode("latin-1"))
    elif mode == "nests":
        in_turns(nested(int(argument)))
    elif mode == "action-with":
        action_with(json.loads(argument))
    elif mode == "crlf":
        in_turns(lambda turn: write(b"\r\n \n" + line(first(turn), end=b"\r\n") + b"\n"))
    elif mode == "without-end":
        in_turns(without_end)
    elif mode == "byte-by-byte":
        in_turns(byte_by_byte)
    elif mode == "answers-twice":
        in_turns(lambda turn: write(line({"type": "action", "action": turn["actions"][0]}) * 2))
    elif mode == "turn-off-by":
        in_turn(1, lambda turn: write(line(first(turn) | {"turn": turn["turn"] + int(argument)})))
    elif mode == "without-turn":
        in_turns(lambda turn: write(line({"type": "action", "action": turn["actions"][0]})))
    elif mode == "pads":
        in_turns(padded(int(argument)))
    elif mode == "endless-line":
        in_turns(endless_line)
    elif mode == "much-info":
        in_turns(much_info)
    elif mode == "floods-until":
        in_turns(flooding_until(float(argument)))
    elif mode == "floods-after":
        in_turn(0, lambda turn: write(line(first(turn)) + b"\n" * int(argument)))
    elif mode == "among-sleepers":
        in_turns(among_sleepers(int(argument)))
    elif mode == "noisy":
        in_turns(noisy)
    elif mode == "garish":
        in_turns(garish)
    elif mode == "sleeps":
        in_turns(lambda turn: (time.sleep(float(argument)), write(line(first(turn)))))
    elif mode == "burning-child":
        in_turns(burning_child)
    elif mode == "allocates":
        in_turns(allocating(int(argument)))
    elif mode == "forks":
        in_turns(forking(int(argument)))
    elif mode == "answers-and-exits":
        in_turns(answering_then_exiting(int(argument)))
    elif mode == "exits":
        in_turns(lambda turn: sys.exit(int(argument)))
    elif mode == "kills-itself":
        in_turns(killing_itself(int(argument)))
    elif mode == "lingers":
        AGENT.over = lingering
    elif mode == "exits-after-over":
        AGENT.over = lambda: sys.exit(int(argument))
    else:
        sys.exit(f"no mode {mode}")


set_up(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
# Not `for text in sys.stdin`, because that reads ahead.
while text := sys.stdin.readline():
    message = json.loads(text)
    if message["type"] == "hello":
        AGENT.start()
    elif message["type"] == "turn":
        AGENT.turn(message)
    elif message["type"] == "over":
        AGENT.over()
        break
