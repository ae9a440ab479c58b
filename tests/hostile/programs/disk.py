"""Fills all that it may write to, and reports how far it got: disk.py one | many | inodes.

It stops at 400 MB and 150 000 files, so that a machine without limits survives it.
"""

import errno
import os
import sys

from lib_agent import play_after, report

PIECE = b"x" * (1 << 20)
MOST_MB, MOST_FILES = 400, 150_000


def write_to(path, most):
    """Writes a file until that is refused; returns the number of whole pieces, and why it ended."""
    with open(path, "wb", buffering=0) as file:
        for count in range(most):
            try:
                if file.write(PIECE) < len(PIECE):
                    return count, "short"
            except OSError as error:
                return count, errno.errorcode[error.errno]
    return most, "enough"


def one():
    import signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    count, why = write_to(os.path.join(os.environ["HOME"], "large"), MOST_MB)
    report("written_mb", count)
    os.write(2, f"it ended with {why}\n".encode())


def many():
    """Writes files of 4 MB in every folder where it may."""
    total = 0
    for folder in (os.environ["HOME"], "/tmp", "/dev/shm", "/var/tmp", "."):
        made = []
        try:
            while total < MOST_MB:
                made.append(os.path.join(folder, f"hostile-{os.getpid()}-{len(made)}"))
                count, _ = write_to(made[-1], 4)
                total += count
                if count < 4:
                    break
        except OSError:
            pass
        for path in made[:0 if folder == os.environ["HOME"] else None]:
            if os.path.exists(path):
                os.unlink(path)
    report("written_mb", total)


def inodes():
    count = 0
    try:
        for count in range(MOST_FILES):
            os.close(os.open(os.path.join(os.environ["HOME"], str(count)), os.O_CREAT, 0o600))
    except OSError as error:
        os.write(2, f"it ended with {errno.errorcode[error.errno]}\n".encode())
    report("files", count)


play_after({"one": one, "many": many, "inodes": inodes}[sys.argv[1]])
