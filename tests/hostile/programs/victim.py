"""The opponent of attackers: plays on, and reports what was done to it."""

import os
import resource
import signal

from lib_agent import answer, play, report

SECRET = b"the-secret-that-no-one-may-read in memory"


def hurt(number, _frame):
    report("harm", f"signal {number}")


def state():
    return {
        "limits": [resource.getrlimit(getattr(resource, name)) for name in dir(resource)
                   if name.startswith("RLIMIT_")],
        "priority": os.getpriority(os.PRIO_PROCESS, 0),
        "cores": sorted(os.sched_getaffinity(0)),
        "memory": SECRET,
        "home": sorted(os.listdir(os.environ["HOME"])),
        "files": sorted(os.listdir(".")),
    }


def turn(message):
    now = state()
    for name, value in now.items():
        if value != BEFORE[name]:
            report("harm", f"{name} changed from {BEFORE[name]} to {value}")
    answer(message)


signal.signal(signal.SIGURG, lambda *_: os.write(2, b"attack signal all processes: worked\n"))
for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2,
             signal.SIGIO, signal.SIGALRM):
    signal.signal(each, hurt)
BEFORE = state()
play(turn=turn)
