"""Reads what isn't its own: attack_reading.py REFEREE OPPONENT TRANSCRIPT PRIVATE.

OPPONENT is a folder, TRANSCRIPT is being written, PRIVATE is a folder with other files.
"""

import os

from lib_agent import Denied, arguments, attempt, play_after
from lib_system import command_line, first_that_works, syscall, victims

referee, opponent, transcript, private = arguments()
SECRET = b"the-secret-that-no-one-may-read"


def read(path):
    with open(path, "rb") as file:
        return f"{len(file.read(100))} bytes"


def listed(path):
    return f"{len(os.listdir(path))} entries"


def of_process(name):
    """Opens a file of the opponent's in /proc."""
    def action(pid):
        # Not read: a pipe would block, and the memory at 0 is not readable.
        os.close(os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_NONBLOCK))
    return action


def secret_in_memory(pid):
    """Looks for what the opponent keeps in its memory."""
    with open(f"/proc/{pid}/maps", encoding="ascii") as maps, open(f"/proc/{pid}/mem", "rb") as mem:
        for line in maps:
            words = line.split()
            if "rw" not in words[1]:
                continue
            start, end = (int(it, 16) for it in words[0].split("-"))
            mem.seek(start)
            try:
                if SECRET + b" in memory" in mem.read(min(end - start, 1 << 24)):
                    return "found"
            except OSError:
                continue
    raise Denied("not found")


def others_homes():
    """Lists another agent's private folder: each is alone in a folder of the referee."""
    around, name = os.path.split(os.environ["HOME"])
    temporary, own = os.path.split(around)
    others = [it for it in os.listdir(temporary) if it.startswith("referee-") and it != own]
    if not others:
        raise Denied("no other is visible")
    return first_that_works(lambda it: listed(os.path.join(temporary, it, name)), others)


def command_lines():
    seen = [pid for pid in victims() if b"victim.py" in command_line(pid)]
    if not seen:
        raise Denied("none is visible")


def process_list():
    """Counts processes other than its own and its parents."""
    own = {os.getpid(), os.getppid(), 1}
    seen = [it for it in os.listdir("/proc") if it.isdigit() and int(it) not in own]
    if not seen:
        raise Denied("none is visible")
    return f"{len(seen)} processes"


def watch():
    """Watches a folder for changes."""
    import ctypes
    watcher = syscall("inotify_init1", 0)
    if ctypes.CDLL(None, use_errno=True).inotify_add_watch(
            watcher, opponent.encode(), 0x20) == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def attack():
    attempt("read the opponent's program", lambda: read(os.path.join(opponent, "victim.py")))
    attempt("list the opponent's folder", lambda: listed(opponent))
    attempt("watch the opponent's folder", watch)
    attempt("look into other agents' work folders", others_homes)
    for name in ("mem", "environ", "maps", "fd/0"):
        attempt(f"open the opponent's /proc {name}",
                lambda name=name: first_that_works(of_process(name), victims()))
    attempt("go to the opponent's folder by /proc",
            lambda: first_that_works(lambda pid: listed(f"/proc/{pid}/cwd"), victims()))
    attempt("find the opponent's secret in its memory",
            lambda: first_that_works(secret_in_memory, victims()))
    attempt("read the transcript", lambda: read(transcript))
    attempt("read a contest's file", lambda: read(os.path.join(private, "contest.toml")))
    attempt("read an earlier transcript", lambda: read(os.path.join(private, "earlier.jsonl")))
    attempt("list a private folder", lambda: listed(private))
    attempt("open the referee's memory", lambda: of_process("mem")(referee))
    attempt("read the referee's environment", lambda: of_process("environ")(referee))
    attempt("read the shadow file", lambda: read("/etc/shadow"))
    attempt("see the opponent's command line", command_lines)
    attempt("see other processes", process_list)


play_after(attack)
