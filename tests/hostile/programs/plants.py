"""Leaves links, FIFOs, and deep and locked folders in its work folder: plants.py PRIVATE."""

import os

from lib_agent import arguments, attempt, play_after

private, = arguments()
HOME = os.environ["HOME"]


def attack():
    os.symlink(private, os.path.join(HOME, "link"))
    os.symlink("/", os.path.join(HOME, "root"))
    os.symlink(os.path.join(HOME, "loop"), os.path.join(HOME, "loop"))
    attempt("make a FIFO", lambda: os.mkfifo(os.path.join(HOME, "fifo")))
    locked = os.path.join(HOME, "locked")
    os.mkdir(locked)
    with open(os.path.join(locked, "inside"), "w", encoding="ascii") as file:
        file.write("x")
    os.symlink(private, os.path.join(locked, "link"))
    deep = os.open(HOME, os.O_RDONLY)
    # On some file systems removing takes many times longer than making.
    for _ in range(500):
        os.mkdir("deep", dir_fd=deep)
        below = os.open("deep", os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = below
    os.close(deep)
    for number in range(300):
        with open(os.path.join(HOME, f"{number}\n\x1b[31m"), "w", encoding="ascii"):
            pass
    os.mkdir(os.path.join(HOME, "shut"), 0)
    for path, mode in ((locked, 0), (HOME, 0o500)):
        try:
            os.chmod(path, mode)
        except PermissionError:
            # At level `confined` it can't change modes.
            pass


play_after(attack)
