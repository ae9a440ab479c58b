"""Changes what other processes may use and how they are scheduled: attack_conditions.py REFEREE.

Everything is set to its present value, so that nothing is harmed where it works.
"""

import ctypes
import os
import resource
import sys

from lib_agent import Denied, attempt, play_after, report
from lib_system import first_that_works, syscall, victims

referee = int(sys.argv[1])
IOPRIO_WHO_PROCESS = 1


def limits(pid):
    now = resource.prlimit(pid, resource.RLIMIT_CORE)
    resource.prlimit(pid, resource.RLIMIT_CORE, now)


def priority(pid):
    # A better one would need rights.
    os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid))


def cores(pid):
    os.sched_setaffinity(pid, os.sched_getaffinity(pid))


def scheduler(pid):
    os.sched_setscheduler(pid, os.sched_getscheduler(pid), os.sched_param(0))


def disk_priority(pid):
    syscall("ioprio_set", IOPRIO_WHO_PROCESS, pid, 0)


def priority_of_user():
    """Sets that of all processes of the user, if the referee is one of them."""
    if os.stat(f"/proc/{referee}").st_uid != os.getuid():
        raise Denied("it has its own user")
    own = os.getpriority(os.PRIO_PROCESS, 0)
    if ctypes.CDLL(None, use_errno=True).setpriority(os.PRIO_USER, 0, own) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def killed_later():
    with open("/proc/self/oom_score_adj", "r+", encoding="ascii") as file:
        file.write(file.read())


def attack():
    with open("/proc/self/oom_score_adj", encoding="ascii") as file:
        report("killed_first", file.read().strip())
    for name, change in (("limits", limits), ("priority", priority), ("cores", cores),
                         ("scheduler", scheduler), ("disk priority", disk_priority)):
        attempt(f"set the {name} of the opponent",
                lambda change=change: first_that_works(change, victims()))
        attempt(f"set the {name} of the referee", lambda change=change: change(referee))
    attempt("change when it is killed for lack of memory", killed_later)
    attempt("set the priority of all of the user's processes", priority_of_user)


play_after(attack)
