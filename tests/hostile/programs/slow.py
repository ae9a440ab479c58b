"""Sleeps in each turn, or in its first TURNS: slow.py SECONDS [TURNS]."""

import sys
import time

from lib_agent import answer, play

left = [int(sys.argv[2]) if len(sys.argv) > 3 else 1000]


def turn(message):
    if left[0] > 0:
        left[0] -= 1
        time.sleep(float(sys.argv[1]))
    answer(message)


play(turn=turn)
