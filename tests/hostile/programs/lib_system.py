"""System calls that Python has no names for, and finding other processes."""

import ctypes
import os
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long

# Numbers on x86-64 and aarch64.
NUMBERS = {
    "ptrace": (101, 117), "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "io_uring_setup": (425, 425), "bpf": (321, 280), "userfaultfd": (323, 282),
    "perf_event_open": (298, 241), "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438), "kcmp": (312, 272), "setpriority": (141, 140),
    "ioprio_set": (251, 30), "open_tree": (428, 428), "fsopen": (430, 430), "clone3": (435, 435),
    "open_by_handle_at": (304, 265), "memfd_create": (319, 279), "shmget": (29, 194),
    "shmat": (30, 196), "pidfd_send_signal": (424, 424), "inotify_init1": (294, 26),
    "timer_create": (222, 107), "sync": (162, 81), "personality": (135, 92), "io_setup": (206, 0),
    "name_to_handle_at": (303, 264), "landlock_create_ruleset": (444, 444), "clone": (56, 220),
    "close_range": (436, 436), "mbind": (237, 235), "splice": (275, 76), "tee": (276, 77),
    "vmsplice": (278, 75), "sendfile": (40, 71),
}
MACHINES = {"x86_64": 0, "aarch64": 1}


def syscall(name, *arguments):
    """Makes a system call by its name. Raises OSError."""
    number = NUMBERS[name][MACHINES[os.uname().machine]]
    wide = [ctypes.c_long(it) if isinstance(it, int) else it for it in arguments]
    result = LIBC.syscall(ctypes.c_long(number), *wide)
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def pids():
    """Returns the process IDs in /proc, and all near its own."""
    try:
        seen = {int(it) for it in os.listdir("/proc") if it.isdigit()}
    except OSError:
        seen = set()
    own = os.getpid()
    return sorted(seen | set(range(max(1, own - 300), own + 300)))


def command_line(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


def victims(program=b"victim.py"):
    """Returns the opponent's processes, found by its program and the run's token in their command
    lines; if none is visible, every process outside its own tree."""
    token = sys.argv[-1].encode()
    lines = {pid: command_line(pid) for pid in pids()}
    named = [pid for pid, line in lines.items() if program in line and token in line]
    own = {os.getpid(), os.getppid()}
    return [pid for pid in named or lines if pid not in own]


def first_that_works(action, processes):
    """Tries an action on each process until it works. Raises the last error if it never does."""
    last = ProcessLookupError(3, "no process")
    for pid in processes:
        try:
            return f"on {pid} {action(pid) or ''}"
        except ProcessLookupError as error:
            last = error if isinstance(last, ProcessLookupError) else last
        except OSError as error:
            last = error
    raise last
