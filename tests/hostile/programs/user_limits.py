"""Takes what all processes of a user have few of together, or needs it: user_limits.py takes|needs WHAT..,
of `watchers` and `signals`.

What one takes, the other must still have. It reports as harm what it doesn't get because of others.
"""

import ctypes
import errno
import os
import signal
import sys

from lib_agent import play_after, report
from lib_system import LIBC, syscall

WATCHERS, SIGNALS = 200, 200_000
kept = []


def watcher():
    """Makes an inotify instance."""
    kept.append(syscall("inotify_init1", 0))


def queued():
    """Has a signal wait for itself."""
    if LIBC.sigqueue(os.getpid(), signal.SIGRTMIN, ctypes.c_void_p(0)) != 0:
        raise OSError(ctypes.get_errno(), "sigqueue")


OF = {"watchers": (watcher, WATCHERS, errno.EMFILE), "signals": (queued, SIGNALS, errno.EAGAIN)}
CHOSEN = [OF[name] for name in sys.argv[2:] if name in OF]


def take():
    for action, count, _ in CHOSEN:
        try:
            for _ in range(count):
                action()
        except OSError:
            pass


def need():
    for action, _, lacking in CHOSEN:
        try:
            action()
        except OSError as error:
            if error.errno == lacking:
                report("harm", f"{action.__doc__} {error}")


signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
play_after(take if sys.argv[1] == "takes" else need)
