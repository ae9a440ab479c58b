"""Prints its open files, environment and folders as JSON to stderr, then plays the first legal action."""
import json
import os
import stat
import sys


def open_files():
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[name] = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            # The descriptor of the listing itself.
            pass
    return found


# Read from /proc, because the interpreter adds variables to os.environ.
variables = open("/proc/self/environ", "rb").read().decode().split("\0")
environment = dict(variable.split("=", 1) for variable in variables if variable)
home = environment.get("HOME", "")
with open(os.path.join(home, "diary"), "w") as diary:
    diary.write("mine")
report = {
    "fds": open_files(),
    "environment": environment,
    "folder": os.getcwd(),
    "home_is_folder": os.path.isdir(home),
    "listed_by_others": all(
        os.stat(folder).st_mode & (stat.S_IRGRP | stat.S_IROTH) for folder in (home, os.path.dirname(home))
    ),
    "session": os.getsid(0),
    "pid": os.getpid(),
}
print(json.dumps(report), file=sys.stderr, flush=True)
for text in sys.stdin:
    message = json.loads(text)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "want": ["actions"]}), flush=True)
    elif message["type"] == "turn":
        print(json.dumps({"type": "action", "action": message["actions"][0]}), flush=True)
