"""Changes what other processes may use and how they are scheduled: attack_conditions.py REFEREE.

Everything is set to what it is already, so that it harms nobody where it works.
"""

import ctypes
import os
import resource
import sys

from lib_agent import Denied, attempt, play_after
from lib_system import first_that_works, syscall, victims

referee = int(sys.argv[1])
IOPRIO_WHO_PROCESS = 1


def limits(pid):
    now = resource.prlimit(pid, resource.RLIMIT_CORE)
    resource.prlimit(pid, resource.RLIMIT_CORE, now)


def priority(pid):
    # Never better than it is: that needs rights.
    os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid))


def cores(pid):
    os.sched_setaffinity(pid, os.sched_getaffinity(pid))


def scheduler(pid):
    os.sched_setscheduler(pid, os.sched_getscheduler(pid), os.sched_param(0))


def disk_priority(pid):
    syscall("ioprio_set", IOPRIO_WHO_PROCESS, pid, 0)


def everybodys_priority():
    """That of every process of the user, where the referee is one of them."""
    if os.stat(f"/proc/{referee}").st_uid != os.getuid():
        raise Denied("it is a user of its own")
    if ctypes.CDLL(None, use_errno=True).setpriority(os.PRIO_USER, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def attack():
    for name, change in (("limits", limits), ("priority", priority), ("cores", cores),
                         ("scheduler", scheduler), ("disk priority", disk_priority)):
        attempt(f"set the {name} of the opponent",
                lambda change=change: first_that_works(change, victims()))
        attempt(f"set the {name} of the referee", lambda change=change: change(referee))
    attempt("set the priority of all of the user's processes", everybodys_priority)


play_after(attack)
