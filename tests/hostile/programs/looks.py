"""Looks for anything inherited that the documentation doesn't name."""

import os
import sys

from lib_agent import Denied, attempt, play_after

VARIABLES = {"HOME", "JAVA_HOME", "LANG", "PATH", "TMPDIR", "TZ", "VIRTUAL_ENV", "LC_CTYPE"}
# Variables by which the referee limits runtimes.
HINTS = set(sys.argv[1].split(",")) if len(sys.argv) > 2 else set()
SECRET = "the-secret-that-no-one-may-read"


def descriptors():
    more = []
    for number in range(3, 1024):
        try:
            os.fstat(number)
            more.append(number)
        except OSError:
            continue
    if not more:
        raise Denied("none")
    return f"{more}"


def shared_description():
    """Checks whether its standard files are shared with others: a terminal, a file."""
    kinds = [os.readlink(f"/proc/self/fd/{number}") for number in range(3)]
    if all(kind.startswith(("pipe:", "socket:")) for kind in kinds) and len(set(kinds)) == 3:
        raise Denied("pipes of its own")
    return f"{kinds}"


def terminal():
    os.close(os.open("/dev/tty", os.O_RDWR))


def variables():
    more = set(os.environ) - VARIABLES - HINTS
    if not more:
        raise Denied("none")
    return f"{sorted(more)}"


def secret():
    if not any(SECRET in value for value in os.environ.values()):
        raise Denied("none")


def session():
    if os.getsid(0) == os.getpid() == os.getpgrp():
        raise Denied("it has its own")
    return f"session {os.getsid(0)}, group {os.getpgrp()}, process {os.getpid()}"


def blocked_signals():
    import signal
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    ignored = [it for it in signal.valid_signals() if signal.getsignal(it) == signal.SIG_IGN]
    # Python ignores these two itself.
    ignored = [it for it in ignored if it not in (signal.SIGPIPE, signal.SIGXFSZ)]
    if not masked and not ignored:
        raise Denied("none")
    return f"blocked {sorted(masked)}, ignored {ignored}"


def attack():
    attempt("find open files", descriptors)
    attempt("find standard files of others", shared_description)
    attempt("open the terminal", terminal)
    attempt("find more variables", variables)
    attempt("find a secret in a variable", secret)
    attempt("be in another's session", session)
    attempt("have signals blocked or ignored", blocked_signals)


play_after(attack, harmless=True)
