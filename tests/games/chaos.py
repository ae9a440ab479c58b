"""The sample game tic-tac-toe, whose program fails at some requests.

    chaos.py "DAMAGE at N"         # at the requests N, 2 N, .. of each process; the first one is 1
    chaos.py "DAMAGE in N seed S"  # at one of N states, the same ones in every process
    chaos.py "DAMAGE in 1"         # at every state

The first request of a process, `describe`, is always answered.
"""
import hashlib
import os
import signal
import sys
import time

import rules
from referee_kit.game import _Answers


def write(*lines):
    for line in lines:
        sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def hang():
    time.sleep(3600)


def spin():
    while True:
        pass


def close():
    os.close(1)
    hang()


DAMAGES = {
    "exit": lambda answer: os._exit(3),
    "kill": lambda answer: os.kill(os.getpid(), signal.SIGKILL),
    "hang": lambda answer: hang(),
    "spin": lambda answer: spin(),
    "close": lambda answer: close(),
    "cut": lambda answer: (write(answer[:len(answer) // 2]), os._exit(0)),
    "half": lambda answer: (write(answer[:len(answer) // 2]), hang()),
    "text": lambda answer: write(b"here I am\n"),
    "bytes": lambda answer: write(b"\xff\xfe\x00\n"),
    "number": lambda answer: write(answer.replace(b'"id":', b'"id":9')),
    "twice": lambda answer: write(answer, answer),
    "surplus": lambda answer: write(answer[:-2] + b',"more":1}\n'),
    "empty": lambda answer: write(b'{"id":%s,"type":"walked","plies":[]}\n' % number_of(answer)),
    "kind": lambda answer: write(b'{"id":%s,"type":"walking"}\n' % number_of(answer)),
    "failed": lambda answer: write(b'{"id":%s,"type":"failed","text":"no"}\n' % number_of(answer)),
}


def number_of(answer):
    return answer.split(b'"id":')[1].split(b",")[0]


def main():
    name, way, count, *seed = sys.argv[1].split()
    count, seed = int(count), "".join(seed).encode()

    def is_chosen(number, line):
        if way == "at":
            return number % count == 0
        # Without its id and what is wanted, which depend on who asks.
        asked = line.split(b",", 1)[1].split(b'"want"')[0]
        drawn = int(hashlib.sha256(asked + seed).hexdigest(), 16)
        return b'"state":' in line and drawn % count == 0

    answers = _Answers(rules.TicTacToe())
    for number, line in enumerate(sys.stdin.buffer):
        answer = answers.to(line)
        if number > 0 and is_chosen(number, line):
            DAMAGES[name](answer)
        else:
            write(answer)


main()
