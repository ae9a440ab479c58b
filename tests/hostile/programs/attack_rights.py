"""Looks for rights that it should not have.

It watches a system program with the set-user-ID bit while that runs.
"""

import os
import shutil
import subprocess
import time

from lib_agent import Denied, attempt, play_after


def status(name, pid="self"):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith(name + ":"):
                return line.split()[1:]
    raise Denied(f"no {name} in /proc")


def setuid_program():
    """`su` waits for a password, as root if the bit counts."""
    found = [shutil.which(name, path="/usr/bin:/bin") for name in ("su", "mount")]
    program = found[0] or found[1]
    if program is None:
        raise Denied("no such program")
    if os.geteuid() == 0:
        return "it is root already"
    words = [program, "root", "-c", "true"] if program.endswith("su") else [program]
    running = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        for _ in range(50):
            try:
                if status("Uid", running.pid)[1] == "0":
                    return "it runs as root"
            except OSError as error:
                raise Denied("it can't be inspected, or is gone") from error
            if running.poll() is not None:
                break
            time.sleep(0.005)
    finally:
        running.kill()
        running.wait()
    raise Denied("it runs as the user that started it")


def root():
    if 0 in os.getresuid() or 0 in os.getresgid():
        return f"{os.getresuid()} {os.getresgid()}"
    raise Denied(f"it is user {os.getuid()}")


def groups():
    # 65000 is the group of all users of agents, which owns nothing but ways to their own files.
    more = [it for it in os.getgroups() if it not in (os.getgid(), 65000, 65534)]
    if not more:
        raise Denied("none")
    return f"{more}"


def capabilities():
    for name in ("CapEff", "CapPrm", "CapInh", "CapAmb"):
        if int(status(name)[0], 16):
            return f"{name} {status(name)[0]}"
    raise Denied("none")


def new_privileges():
    if status("NoNewPrivs")[0] == "1":
        raise Denied("switched off")


def attack():
    attempt("gain rights by a program", setuid_program)
    attempt("be able to gain rights", new_privileges)
    attempt("be root", root)
    attempt("have capabilities", capabilities)
    attempt("belong to groups", groups)


play_after(attack, harmless=True)
