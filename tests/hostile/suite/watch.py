"""Runs a referee, and measures its memory and the processes that it leaves behind."""

import dataclasses
import os
import pathlib
import subprocess
import threading
import time

# How often to check that the processes of a match are gone: they promise to be within 100 ms, but a
# busy machine needs longer.
LOOKS = 200
LOOK_S = 0.1


@dataclasses.dataclass
class Ran:
    """The result of a run."""

    code: int
    stdout: str
    stderr: str
    peak_kb: int
    hung: bool
    took_s: float


def status_kb(pid, field):
    """Reads a number of /proc/PID/status; returns 0 if the process is gone."""
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0


def marked(token):
    """Returns the processes with the token in their command line or environment, without this one.

    Zombies have neither.
    """
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for name in ("cmdline", "environ"):
            try:
                data = pathlib.Path(f"/proc/{pid}/{name}").read_bytes()
            except OSError:
                continue
            if token.encode() in data and int(pid) != os.getpid():
                found.append(int(pid))
                break
    return found


def survivors(token):
    """Waits until no process of a run is left; returns those that are, and how long it took."""
    begun = time.monotonic()
    for _ in range(LOOKS):
        left = marked(token)
        if not left:
            break
        time.sleep(LOOK_S)
    return left, time.monotonic() - begun


def command_of(pid):
    """Returns the start of a process's command line."""
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return " ".join(word.decode(errors="replace") for word in words[:4])
    except OSError:
        return "already gone"


def kill_marked(token):
    """Kills what a run has left."""
    for _ in range(50):
        left = marked(token)
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, 9)
            except OSError:
                pass
        time.sleep(0.02)


def run(words, place, environment, within_s, look=None, before=None):
    """Runs a referee in a folder to its end, and measures its peak memory.

    Calls `before` with its process id before it starts, and `look` repeatedly while it runs.
    """
    # A shell that becomes the referee after a line of input, with signals ignored as in a background
    # job.
    held = ["/bin/sh", "-c", 'trap "" HUP QUIT; read -r go; exec "$@" </dev/null', "sh", *words]
    process = subprocess.Popen(held, cwd=place, env=environment, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if before is not None:
        before(process.pid)
    begun = time.monotonic()
    process.stdin.write(b"go\n")
    process.stdin.close()
    taken = {}

    def take(name, pipe):
        taken[name] = pipe.read().decode(errors="replace")

    readers = [threading.Thread(target=take, args=pair)
               for pair in (("out", process.stdout), ("err", process.stderr))]
    for reader in readers:
        reader.start()
    peak, hung = 0, False
    while process.poll() is None:
        peak = max(peak, status_kb(process.pid, "VmHWM"))
        if look is not None:
            look(process.pid)
        if time.monotonic() - begun > within_s:
            hung = True
            process.kill()
            process.wait()
        time.sleep(0.01)
    took = time.monotonic() - begun
    for reader in readers:
        # A survivor that holds the referee's output would block this forever.
        reader.join(5)
    return Ran(process.returncode, taken.get("out", ""), taken.get("err", ""), peak, hung, took)
