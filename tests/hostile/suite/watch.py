"""Runs a referee and watches it: how much memory it took, what it left behind."""

import dataclasses
import os
import pathlib
import subprocess
import threading
import time

# How long what a match has started may take to go, in steps of a tenth of a second: 100 ms is the
# promise, but where nothing has a core, nothing goes. What stays, stays for longer than that.
LOOKS = 200
LOOK_S = 0.1


@dataclasses.dataclass
class Ran:
    """What came of a run."""

    code: int
    stdout: str
    stderr: str
    peak_kb: int
    hung: bool
    took_s: float


def status_kb(pid, field):
    """A figure of /proc/PID/status in KiB; 0 when it is gone."""
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0


def marked(token):
    """Processes that have the token in their command line or their environment, this one left out.

    Threads of a process that has changed neither are counted once. Dead ones that nobody has taken
    in have neither.
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
    """What is left of a run once it had time to go, and how long it took, in seconds."""
    begun = time.monotonic()
    for _ in range(LOOKS):
        left = marked(token)
        if not left:
            break
        time.sleep(LOOK_S)
    return left, time.monotonic() - begun


def command_of(pid):
    """What a process is, for people."""
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return " ".join(word.decode(errors="replace") for word in words[:4])
    except OSError:
        return "gone by now"


def kill_marked(token):
    """Ends what a run has left, so that it harms nothing else."""
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
    """Runs a referee in a folder to its end and measures the most memory that it had.

    `before` is called with its process id before it begins, `look` again and again while it runs.
    """
    # A shell that becomes the referee once it is told to, with signals ignored as in the background.
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
        # A survivor that holds the referee's own output would hold this up for ever.
        reader.join(5)
    return Ran(process.returncode, taken.get("out", ""), taken.get("err", ""), peak, hung, took)
