"""Leaves messages for its next game, and looks for those of its last: attack_leaving.py."""

import ctypes
import os
import sys

from lib_agent import Denied, attempt, play_after
from lib_system import syscall

TOKEN = sys.argv[-1]
KEY = int(TOKEN[-6:], 16) | 1
IPC_CREAT = 0o1000
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mq_open.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p]


def file_in(folder):
    """Looks for a file of the last game; makes it if there is none."""
    def look():
        path = os.path.join(folder, TOKEN)
        if os.path.exists(path):
            os.unlink(path)
            return path
        with open(path, "w", encoding="ascii") as file:
            file.write("hello from the game before")
        raise Denied("nothing there")
    return look


def in_work_folder():
    """It may write to its work folder, which is new in each game."""
    found = [it for it in os.listdir(os.environ["HOME"]) if not it.startswith(".")]
    with open(os.path.join(os.environ["HOME"], "left"), "w", encoding="ascii") as file:
        file.write("hello")
    if not found:
        raise Denied("nothing there")
    return f"{found}"


def mode_of_work_folder():
    """Leaves a message in the mode of its work folder."""
    home = os.environ["HOME"]
    if os.stat(home).st_mode & 0o777 == 0o710:
        return "the mode of the game before"
    os.chmod(home, 0o710)
    raise Denied("as in the first game")


def shared_memory():
    try:
        syscall("shmget", KEY, 0, 0)
    except FileNotFoundError:
        syscall("shmget", KEY, 4096, IPC_CREAT | 0o600)
        raise Denied("nothing there") from None
    return "a segment"


def message_queue():
    name = b"/" + TOKEN.encode()
    if LIBC.mq_open(name, os.O_RDWR, 0, None) >= 0:
        LIBC.mq_unlink(name)
        return "a queue"
    LIBC.mq_open(name, os.O_CREAT | os.O_RDWR, 0o600, None)
    raise Denied("nothing there")


def attack():
    attempt("find a file in /dev/shm", file_in("/dev/shm"))
    attempt("find a file in /tmp", file_in("/tmp"))
    attempt("find a file in /var/tmp", file_in("/var/tmp"))
    attempt("find a file in its work folder", in_work_folder)
    attempt("find the mode of its work folder", mode_of_work_folder)
    attempt("find shared memory", shared_memory)
    attempt("find a message queue", message_queue)


play_after(attack)
