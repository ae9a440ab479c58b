"""Tries system calls that no game needs, and that were ways out of sandboxes before.

Their arguments can't change the machine: a call that fails because of its arguments got through, and
only a refusal counts as denied. What would succeed is done in a child.
"""

import ctypes
import errno
import fcntl
import os
import signal
import socket
import struct
import tempfile

from lib_agent import Denied, attempt, play_after
from lib_system import syscall

REFUSALS = {errno.EPERM, errno.EACCES, errno.ENOSYS}
FIOSETOWN = 0x8901
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000
CLONE_VM, CLONE_SIGHAND, CLONE_THREAD, CLONE_FILES = 0x100, 0x800, 0x10000, 0x400
CLOSE_RANGE_UNSHARE = 2
# Stacks of threads.
KEPT = []
SO_ATTACH_FILTER, PR_SET_SECCOMP, PR_FUTEX_HASH, F_OFD_SETLK = 26, 22, 78, 37
TIOCSTI, TIOCLINUX, F_SETSIG, F_SETOWN_EX = 0x5412, 0x541C, 10, 15


def through(action):
    """Counts any error but a refusal as worked."""
    def reached():
        try:
            return action()
        except OSError as error:
            if error.errno in REFUSALS:
                raise
            return f"got through to {errno.errorcode[error.errno]}"
    return reached


def in_child(action):
    """For what would change this process itself."""
    child = os.fork()
    if child == 0:
        try:
            action()
            os._exit(0)
        except OSError as error:
            os._exit(error.errno)
    number = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if number != 0:
        raise OSError(number, os.strerror(number))


def clone_user():
    """Makes a process in a user namespace, with the old call."""
    child = syscall("clone", CLONE_NEWUSER | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def clone3_user():
    """The same with the new call, whose flags no filter can see."""
    flags = struct.pack("=QQQQQQQQ", CLONE_NEWUSER, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    child = syscall("clone3", ctypes.c_char_p(flags), 64)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def foreign():
    """Makes a call with the numbers of another architecture (int 0x80), which filters may forget."""
    if os.uname().machine != "x86_64":
        raise Denied("not on this machine")
    import mmap
    # mov eax, 20 (getpid); int 0x80; ret
    code = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"
    memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    child = os.fork()
    if child == 0:
        os._exit(0 if ctypes.CFUNCTYPE(ctypes.c_int)(address)() > 0 else 1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status != 0:
        raise Denied(f"ended with {status}")


def thread_with_files():
    """Makes a thread whose open files are found only in its own folder of /proc."""
    libc = ctypes.CDLL(None, use_errno=True)
    stack = ctypes.create_string_buffer(1 << 16)
    top = ctypes.c_void_p((ctypes.addressof(stack) + len(stack)) & ~15)
    # The thread does nothing but call this, without Python's lock.
    ends = ctypes.cast(libc.pause, ctypes.c_void_p)
    if libc.clone(ends, top, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD, None) == -1:
        raise OSError(ctypes.get_errno(), "clone")
    KEPT.append(stack)


def later_calls():
    """Calls numbers above those of all kernels yet."""
    libc = ctypes.CDLL(None, use_errno=True)
    for number in range(480, 600):
        if libc.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6) != -1:
            return f"call {number}"
        if ctypes.get_errno() != errno.ENOSYS:
            return f"call {number} got through to {errno.errorcode[ctypes.get_errno()]}"
    raise Denied("ENOSYS")


def attack():
    attempt("keyctl", through(lambda: syscall("keyctl", 0, -3, 0, 0, 0)))
    attempt("add_key", through(lambda: syscall("add_key", None, None, None, 0, 0)))
    attempt("request_key", through(lambda: syscall("request_key", None, None, None, 0)))
    attempt("io_uring", through(lambda: syscall("io_uring_setup", 1, None)))
    attempt("bpf", through(lambda: syscall("bpf", 0, None, 0)))
    attempt("userfaultfd", through(lambda: syscall("userfaultfd", 1)))
    attempt("perf_event_open", through(lambda: syscall("perf_event_open", None, 0, -1, -1, 0)))
    attempt("unshare the user", lambda: in_child(lambda: syscall("unshare", CLONE_NEWUSER)))
    attempt("unshare mounts", lambda: in_child(lambda: syscall("unshare", CLONE_NEWNS)))
    attempt("clone a user", clone_user)
    attempt("clone3 a user", clone3_user)
    attempt("start a session", lambda: in_child(os.setsid))
    attempt("make a thread with files of its own", thread_with_files)
    attempt("unshare open files", lambda: in_child(lambda: syscall("unshare", CLONE_FILES)))
    attempt("unshare open files by closing",
            lambda: syscall("close_range", 1000, 1000, CLOSE_RANGE_UNSHARE))
    attempt("setns", through(lambda: syscall("setns", -1, CLONE_NEWNET)))
    attempt("mount", through(lambda: syscall("mount", None, b"/no/such/place", None, 0, None)))
    attempt("open_tree", through(lambda: syscall("open_tree", -1, b"", 0)))
    attempt("fsopen", through(lambda: syscall("fsopen", b"hostile", 0)))
    attempt("open_by_handle_at", through(lambda: syscall("open_by_handle_at", -1, None, 0)))
    attempt("write all disks' caches", lambda: syscall("sync"))
    attempt("ask for its personality", lambda: syscall("personality", 0xFFFFFFFF))
    attempt("ask for Landlock", lambda: syscall("landlock_create_ruleset", None, 0, 1))
    attempt("io_setup", through(lambda: syscall("io_setup", 0, None)))
    attempt("name_to_handle_at", through(lambda: syscall("name_to_handle_at", -1, b"", None, None, 0)))
    attempt("call what a later kernel may have", later_calls)
    attempt("push input into a terminal", through(lambda: fcntl.ioctl(0, TIOCSTI, b"x")))
    # The system uses only the lower half of a request: CVE-2019-10063.
    attempt("push input by a wide request", through(wide_request))
    attempt("paste into a terminal", through(lambda: fcntl.ioctl(0, TIOCLINUX, b"\x03")))
    attempt("choose a signal for input", through(lambda: fcntl.fcntl(0, F_SETSIG, signal.SIGKILL)))
    attempt("have its group signalled", through(lambda: fcntl.fcntl(0, fcntl.F_SETOWN,
                                                                    -os.getpgrp())))
    owner = struct.pack("=ii", 1, os.getppid() or 1)
    attempt("have its parent signalled", through(lambda: fcntl.fcntl(0, F_SETOWN_EX, owner)))
    attempt("call as another machine does", foreign)
    # A stopped process could have itself continued by one.
    timer = ctypes.create_string_buffer(8)
    attempt("make a timer", through(lambda: syscall("timer_create", 1, None, timer)))
    # One end of such a pair can send to every named socket.
    attempt("have a pair that sends anywhere",
            lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
    attempt("give one of a pair a name", named_pair)
    attempt("enlarge the buffers of a pair", large_pair)
    attempt("put a filter on a pair", filtered_pair)
    attempt("put a filter on its calls", through(lambda: prctl(PR_SET_SECCOMP, 2)))
    attempt("size its table of futexes", through(lambda: prctl(PR_FUTEX_HASH, 1)))
    attempt("choose memory for a mapping", through(lambda: syscall("mbind", -1, 1, 0, None, 0, 0)))
    # A byte in a pipe or socket can hold a page of 2 MiB that nothing counts.
    for call in ("splice", "tee", "vmsplice", "sendfile"):
        attempt(f"move pages by {call}", through(lambda: syscall(call, -1, -1, 0, 0, 0, 0)))
    attempt("lock by an open file", locks_by_file)
    attempt("send an open file", send_file)
    attempt("have its parent signalled by a socket", owned_pair)


def named_pair():
    one, _other = socket.socketpair()
    one.bind(os.path.join(os.environ["HOME"], f"name-{os.getpid()}"))


def large_pair():
    one, _other = socket.socketpair()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)


def filtered_pair():
    """Lets everything through: one instruction, which is gone with the pair."""
    one, _other = socket.socketpair()
    everything = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0xFFFFFFFF))
    program = struct.pack("@HP", 1, ctypes.addressof(everything))
    one.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)


def prctl(option, value):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), None, None, None) == -1:
        raise OSError(ctypes.get_errno(), "prctl")


def locks_by_file():
    with tempfile.TemporaryFile(dir=os.environ["HOME"]) as file:
        lock = struct.pack("@hhqqi", fcntl.F_WRLCK, 0, 0, 1, 0)
        fcntl.fcntl(file, F_OFD_SETLK, lock.ljust(32, b"\0"))


def send_file():
    one, _other = socket.socketpair()
    socket.send_fds(one, [b"x"], [0])


def owned_pair():
    one, _other = socket.socketpair()
    fcntl.ioctl(one, FIOSETOWN, struct.pack("=i", os.getpid()))


def wide_request():
    number = {"x86_64": 16, "aarch64": 29}[os.uname().machine]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    request = ctypes.c_ulong((1 << 32) | TIOCSTI)
    if libc.syscall(ctypes.c_long(number), ctypes.c_long(0), request, ctypes.c_char_p(b"x")) == -1:
        raise OSError(ctypes.get_errno(), "ioctl")


play_after(attack)
