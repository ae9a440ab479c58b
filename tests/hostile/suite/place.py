"""A folder for one run: its agents, the targets of attacks, and whether those were changed."""

import contextlib
import hashlib
import json
import os
import pathlib
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile

from .rows import HERE

PROGRAMS = HERE / "programs"
# Programs that the Rust tests use too.
SHARED = HERE.parent / "tests" / "agents"
# A placeholder for the referee's process ID.
REFEREE = "@PID@"
SECRET = "the-secret-that-no-one-may-read"


def python():
    """Returns an interpreter that every user can start, preferably the system's."""
    system = pathlib.Path("/usr/bin/python3")
    return str(system if system.exists() else pathlib.Path(sys.executable).resolve())


def search_path():
    """Returns the folders of PATH that this user may list, those of the system first."""
    folders = ["/usr/local/bin", "/usr/bin", "/bin", *os.environ.get("PATH", "").split(":")]
    usable = [it for it in folders if os.access(it, os.R_OK | os.X_OK) and "shims" not in it]
    return ":".join(dict.fromkeys(usable))


class Missing(Exception):
    """This machine lacks something that a row needs."""


def tool(name):
    """Finds a program. Raises Missing."""
    found = shutil.which(name, path=search_path())
    if found is None:
        raise Missing(f"no program {name}")
    return found


def compiled(source, cache):
    """Compiles a C program, once per run of the suite. Raises Missing."""
    target = cache / source.stem
    if not target.exists():
        making = cache / f"{source.stem}.{secrets.token_hex(4)}"
        words = [tool("cc"), "-O1", "-pthread", "-o", making, source]
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            raise Missing(f"{source.name} can't be compiled: {ran.stderr.strip()[-200:]}")
        making.rename(target)
    return target


class Place:
    """A temporary folder that every user may list."""

    def __init__(self, cache):
        self.token = "hostile-" + secrets.token_hex(6)
        self.path = pathlib.Path(tempfile.mkdtemp(prefix=self.token + "-", dir="/tmp"))
        self.path.chmod(0o755)
        self.cache = cache
        self.work = self.path / "tmp"
        self.work.mkdir()
        self.sockets = []
        self.kept = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for each in self.sockets:
            with contextlib.suppress(OSError):
                each.close()
        # Python's own removal recurses too deeply for what agents plant.
        subprocess.run(["chmod", "-R", "u+rwx", self.path], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["rm", "-rf", self.path], check=False)

    def environment(self):
        """Returns the referee's environment, with a secret that agents must not get."""
        return {"PATH": search_path(), "LANG": "C.UTF-8", "TMPDIR": str(self.work),
                "HOME": str(self.path), "SECRET": SECRET}

    def agent(self, program, arguments, name):
        """Makes a folder with a program and its agent.toml; returns the AGENT.

        Its last argument is the run's token, which identifies its processes.
        """
        if program.startswith("@"):
            return program
        found = [folder / program for folder in (PROGRAMS, SHARED) if (folder / program).exists()]
        if not found:
            raise Missing(f"no {program} in {PROGRAMS}")
        folder = self.path / name
        folder.mkdir()
        if program.endswith(".c"):
            shutil.copy(compiled(found[0], self.cache), folder / "bot")
            start = ["./bot"]
        elif program.endswith(".py"):
            shutil.copy(found[0], folder)
            for library in PROGRAMS.glob("lib_*.py"):
                shutil.copy(library, folder)
            start = [python(), "-S", "-B", program]
        else:
            shutil.copy(found[0], folder)
            start = [tool("sh"), program]
        command = [*start, *map(str, arguments), self.token]
        text = f"name = {json.dumps(name)}\ncommand = {json.dumps(command)}\n"
        (folder / "agent.toml").write_text(text, encoding="utf-8")
        return f"./{name}"

    def targets(self):
        """Makes the targets of attacks; returns them by the names that rows use."""
        secret = self.path / "private"
        secret.mkdir(mode=0o755)
        for name in ("canary.txt", "contest.toml", "earlier.jsonl"):
            (secret / name).write_text(SECRET + "\n", encoding="utf-8")
        tcp = socket.create_server(("127.0.0.1", 0), backlog=8)
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", 0))
        unix = socket.socket(socket.AF_UNIX)
        unix.bind(str(secret / "unix.socket"))
        os.chmod(secret / "unix.socket", 0o777)
        unix.listen(8)
        abstract = socket.socket(socket.AF_UNIX)
        abstract.bind("\0" + self.token)
        abstract.listen(8)
        self.sockets = [tcp, udp, unix, abstract]
        return {
            "place": self.path, "private": secret, "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1], "unix": secret / "unix.socket", "abstract": self.token,
            "opponent": self.path / "opponent", "referee": REFEREE,
            "transcript": self.path / "x.jsonl", "own": self.path / "hostile",
        }

    def keep(self, pid):
        """Writes the referee's process ID into the agents' commands, and remembers what must not
        change."""
        for path in self.path.glob("*/agent.toml"):
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(REFEREE, str(pid)), encoding="utf-8")
        self.kept = self.look()

    def look(self):
        kept = {}
        for name in ("private", "opponent", "hostile"):
            for path in sorted((self.path / name).rglob("*")):
                kept[str(path)] = fingerprint(path)
        return kept

    def changed(self):
        """Returns what has changed since `keep`."""
        now = self.look()
        names = sorted(set(now) | set(self.kept))
        return [name for name in names if now.get(name) != self.kept.get(name)]

    def left(self):
        """Returns what is left in the referee's temporary folder."""
        return sorted(path.name for path in self.work.iterdir())


def fingerprint(path):
    """Returns what changes whenever a file does."""
    about = path.lstat()
    digest = ""
    if path.is_file() and not path.is_symlink():
        with contextlib.suppress(OSError):
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return about.st_mode, about.st_uid, about.st_ino, digest
