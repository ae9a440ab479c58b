"""Signals everything that isn't its own: attack_signals.py REFEREE LEVEL.

First with signal 0, which is harmless. If that is refused, real ones follow, which must be refused
too.
"""

import os
import signal
import sys

from lib_agent import Denied, attempt, play_after
from lib_system import first_that_works, syscall, victims

referee = int(sys.argv[1])
REAL = sys.argv[2] not in ("none", "basic")


def send(pid):
    """Sends signal 0, and real ones if that is refused."""
    try:
        os.kill(pid, 0)
    except OSError:
        if REAL and pid not in (0, os.getpid()):
            for number in (signal.SIGSTOP, signal.SIGKILL):
                try:
                    os.kill(pid, number)
                except OSError:
                    continue
                return f"(signal {number})"
        raise


def parent():
    pid = os.getppid()
    if pid == 0:
        raise Denied("no parent is visible")
    return send(pid)


def all_processes():
    """The call succeeds even if it reaches no process, so only the opponent knows. Processes ignore
    this signal by default."""
    os.kill(-1, signal.SIGURG)
    raise Denied("unless the opponent says otherwise")


def by_descriptor(pid):
    descriptor = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(descriptor, 0)
    finally:
        os.close(descriptor)


def own_group():
    """Looks for other processes in its group."""
    others = [pid for pid in victims() if pid != os.getpid() and group(pid) == os.getpgrp()]
    if not others:
        raise Denied("no other process is in its group")
    return f"with {others[:3]}"


def group(pid):
    try:
        return os.getpgid(pid)
    except OSError:
        return None


def owner_of_input():
    """Has the system signal another process when there is something to read."""
    import fcntl
    read, _ = os.pipe()
    fcntl.fcntl(read, fcntl.F_SETOWN, referee)


def attack():
    attempt("signal the referee", lambda: send(referee))
    attempt("signal the opponent", lambda: first_that_works(send, victims()))
    attempt("signal its parent", parent)
    attempt("signal all processes", all_processes)
    attempt("signal the referee by a descriptor", lambda: by_descriptor(referee))
    attempt("be in a group with others", own_group)
    attempt("have the referee signalled by a pipe", owner_of_input)
    attempt("queue a signal for the referee",
            lambda: syscall("pidfd_send_signal", os.pidfd_open(referee), 0, None, 0))


play_after(attack)
