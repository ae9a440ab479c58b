"""Accesses the memory and the descriptors of others: attack_memory.py REFEREE."""

import ctypes
import os
import sys

from lib_agent import Denied, attempt, play_after
from lib_system import first_that_works, syscall, victims

referee = int(sys.argv[1])
PTRACE_ATTACH, PTRACE_DETACH, PTRACE_SEIZE = 16, 17, 0x4206


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def attach(pid):
    syscall("ptrace", PTRACE_SEIZE, pid, 0, 0)
    try:
        syscall("ptrace", PTRACE_DETACH, pid, 0, 0)
    except OSError:
        # Only a stopped process can be detached; it is when this one ends, and keeps running.
        pass


def readable(pid):
    """Returns a writable address of a process; its own, which causes EFAULT there, if unknown."""
    try:
        with open(f"/proc/{pid}/maps", encoding="ascii") as maps:
            for line in maps:
                if " rw" in line:
                    return int(line.split("-")[0], 16)
    except OSError:
        pass
    return ctypes.addressof(ctypes.create_string_buffer(8))


def vector(call):
    """Reads eight bytes, or writes them back as they are."""
    def action(pid):
        mine = ctypes.create_string_buffer(8)
        here = Piece(ctypes.addressof(mine), 8)
        there = Piece(readable(pid), 8)
        if call == "process_vm_writev":
            syscall("process_vm_readv", pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
        syscall(call, pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
    return action


def write_memory(pid):
    """Writes a byte back as it is."""
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        at = readable(pid)
        memory.seek(at)
        byte = memory.read(1)
        memory.seek(at)
        memory.write(byte)


def descriptor(pid):
    other = syscall("pidfd_getfd", os.pidfd_open(pid), 1, 0)
    os.close(other)


def compare(pid):
    syscall("kcmp", os.getpid(), pid, 1, 0, 0)


def attack():
    for name, action in (("trace", attach), ("read memory of", vector("process_vm_readv")),
                         ("write memory of", vector("process_vm_writev")),
                         ("write /proc memory of", write_memory),
                         ("take a descriptor of", descriptor), ("compare itself with", compare)):
        attempt(f"{name} the opponent",
                lambda action=action: first_that_works(action, victims()))
        attempt(f"{name} the referee", lambda action=action: action(referee))


if os.uname().machine not in ("x86_64", "aarch64"):
    raise Denied("the system calls of this machine are unknown")
play_after(attack)
