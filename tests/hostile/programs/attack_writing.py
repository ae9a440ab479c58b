"""Writes what isn't its own: attack_writing.py OWN OPPONENT TRANSCRIPT PRIVATE.

What works is undone at once, so that other attacks and checks find everything unchanged.
"""

import os
import shutil

from lib_agent import arguments, attempt, play_after

own, opponent, transcript, private = arguments()


def append(path):
    """Opens it for writing, and writes nothing."""
    os.close(os.open(path, os.O_WRONLY | os.O_APPEND))


def create(path):
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    os.unlink(path)


def truncate(path):
    os.truncate(path, os.stat(path).st_size)


def replace(path):
    """Puts a copy in the file's place, and the file itself back."""
    other = path + ".new"
    shutil.copy(path, other)
    os.rename(path, path + ".old")
    os.rename(other, path)
    os.rename(path + ".old", path)


def link_over(path):
    os.link(path, path + ".link")
    os.unlink(path + ".link")


def link_home(path):
    """A hard link in its own folder keeps a file that is deleted."""
    name = os.path.join(os.environ["HOME"], "link")
    os.link(path, name)
    os.unlink(name)


def mode(path):
    os.chmod(path, os.stat(path).st_mode & 0o7777)


def times(path):
    about = os.stat(path)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


def owner(path):
    about = os.stat(path)
    os.chown(path, about.st_uid, about.st_gid)


def attribute(path):
    os.setxattr(path, "user.hostile", b"1")
    os.removexattr(path, "user.hostile")


def attack():
    program = os.path.join(opponent, "victim.py")
    itself = os.path.join(own, "attack_writing.py")
    for name, path in (("the opponent's program", program), ("its own program", itself),
                       ("the transcript", transcript),
                       ("a private file", os.path.join(private, "canary.txt"))):
        attempt(f"write {name}", lambda path=path: append(path))
        attempt(f"truncate {name}", lambda path=path: truncate(path))
        attempt(f"set the mode of {name}", lambda path=path: mode(path))
        attempt(f"set the times of {name}", lambda path=path: times(path))
        attempt(f"set the owner of {name}", lambda path=path: owner(path))
        attempt(f"set an attribute of {name}", lambda path=path: attribute(path))
        attempt(f"link {name} into its folder", lambda path=path: link_home(path))
    for name, path in (("the opponent's program", program), ("its own program", itself)):
        attempt(f"replace {name}", lambda path=path: replace(path))
        attempt(f"link beside {name}", lambda path=path: link_over(path))
    for name, folder in (("the opponent's folder", opponent), ("its own folder", own),
                         ("a private folder", private), ("/var/tmp", "/var/tmp")):
        attempt(f"make a file in {name}",
                lambda folder=folder: create(os.path.join(folder, f"hostile-{os.getpid()}")))


play_after(attack)
