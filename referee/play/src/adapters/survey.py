"""Reads an agent's package without running it.

Prints an object in JSON, in which no name of a file can be taken for another field: the interpreter, the modules beside
the package that it imports, the package that its imports mean if that is further in than its folders say, or that its
folder was before it was handed in without it, whether relative imports lead out of the folder, the first syntax error
that its import would meet, and the adapter as this Python compiles it, if that is given. Follows no link below the
folder and writes nothing: others may exchange what is in it meanwhile. Ends with the program that started it, whose end
of the standard input is closed then.
"""

import ast
import fcntl
import json
import os
import resource
import select
import signal
import stat
import sys

NEEDED_PYTHON = (3, 10)
CPU_SECONDS_MAX = 10
# Matches go first.
NICENESS = 10
MEMORY_MAX = 2 << 30
SOURCE_BYTES_MAX = 16 << 20

# The folder, the module, the package that the folder itself is for its modules, if any, and the one that it is if they
# import each other without a name for it.
folder, main, inside, unnamed = sys.argv[1:5]
# How long all of this may take.
seconds = int(sys.argv[5])
# What is printed in the end.
printed = {"python": sys.executable, "imports": []}
# How certainly each module is imported: 0 perhaps, 1 always.
seen = {}
tops = []
# Packages that modules import by their last name, as if the folder around were on the path.
meant = []
# The agent's own package as in a folder around it in which there is what modules import, or open, though the path has
# no such thing.
apart = []
# How many of the folders around it aren't named by any import.
unneeded = [main.count(".")]
# Packages that modules import, or open files in, by a name of the course's, though there are none.
lacked = []
# The packages of modules whose relative imports lead out of the path; those of the folder itself have none.
orphans = []


def file_of(name):
    """The file of a module below the folder, if there is one."""
    if inside and name == inside:
        files = [os.path.join(folder, "__init__.py")]
    elif inside and not name.startswith(inside + "."):
        files = []
    else:
        place = os.path.join(folder, *name[len(inside):].strip(".").split("."))
        files = [os.path.join(place, "__init__.py"), place + ".py"]
    return next((file for file in files if os.path.isfile(file)), None)


def top_of(name):
    """The outermost module or package that a module is in. Folders without `__init__.py` are none."""
    parts = name.split(".")
    names = [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
    return next(filter(file_of, names), name)


def visit(name, certain):
    """Reads a module, the packages that it is in, and what it imports."""
    parts = name.split(".")
    for end in range(1, len(parts)):
        visit(".".join(parts[:end]), certain)
    file = file_of(name)
    if file is None or seen.get(name, -1) >= certain:
        return None
    seen[name] = certain
    top = top_of(name)
    if top not in tops:
        tops.append(top)
    try:
        tree = ast.parse(read(file), file)
        compile(tree, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        if certain:
            broken(file, error)
        return None
    except OSError:
        return None
    package = parts if file.endswith("__init__.py") else parts[:-1]
    for node in ast.walk(tree):
        level = getattr(node, "level", 0)
        if level > len(package):
            orphans.append(package)
        if level and package[:1] == main.split(".")[:1]:
            unneeded.append(len(package) - level)
        for imported in imports(node, package):
            if not level and imported.startswith(main.split(".")[0] + ".") and file_of(imported):
                unneeded.append(0)
            meant.extend(further_in(imported.split(".")[0], package))
            apart.extend(beside_own(imported))
            lacked.extend(taken_for(imported.split(".")))
            visit(imported, certain and node in tree.body)
        for path in paths(node):
            apart.extend(around_own(lambda place: os.path.exists(os.path.join(folder, place, path))))
            lacked.extend(taken_for(path.split("/")))
    return tree


def read(file):
    """The source of a module, reached from the folder without following a link."""
    *folders, name = os.path.relpath(file, folder).split(os.sep)
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    for inner in folders:
        place = os.open(inner, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=place)
    opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place)
    with open(opened, "rb") as source:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise OSError("not a regular file")
        return source.read(SOURCE_BYTES_MAX)


def imports(node, package):
    """The modules that a statement, or a call of `import_module`, may import."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.Call) and "import_module" in (getattr(node.func, "attr", ""), getattr(node.func, "id", "")):
        names = [one.value for one in node.args[:1] if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        # A string may be anything, and lead out of the folder as a part of a path.
        return [name for name in names if all(part.isidentifier() for part in name.split("."))]
    if not isinstance(node, ast.ImportFrom):
        return []
    above = package[:len(package) - node.level + 1] if node.level else []
    start = ".".join(above + ([node.module] if node.module else []))
    inner = [".".join([start, alias.name]) for alias in node.names]
    return [name for name in [start] + inner if name and not name.startswith(".")]


def paths(node):
    """The relative paths that an expression may stand for, without those that lead out of a folder."""
    if isinstance(node, ast.Constant):
        found = [node.value] if isinstance(node.value, str) and set("/.") & set(node.value) else []
    elif isinstance(node, ast.Call):
        parts = [part.value for part in node.args if isinstance(part, ast.Constant)]
        found = ["/".join(parts)] if len(parts) > 1 and all(isinstance(part, str) for part in parts) else []
    else:
        found = []
    return [path for path in found if not {"", ".."} & set(path.rstrip("/").split("/")) and "\0" not in path]


def further_in(top, package):
    """The package of this name around or beside another, if none is on the path. Besides its own name, only the one
    that the course set is taken for it: a module may be called as one that is installed."""
    if file_of(top) is not None or top not in package[1:] + ["agent"]:
        return []
    names = [".".join(package[:end] + [top]) for end in range(1, len(package))]
    return [name for name in names if file_of(name)]


def beside_own(imported):
    """The agent's own package as in the folder around it in which an imported module is, if that isn't on the path.
    Its name isn't one of Python's own."""
    if imported.split(".")[0] in getattr(sys, "stdlib_module_names", ()):
        return []
    return around_own(lambda place: file_of(f"{place.replace(os.sep, '.')}.{imported}".strip(".")))


def around_own(has):
    """The agent's own package as in the innermost folder around it that has something, unless the path has it."""
    parts = main.split(".")
    ends = [] if inside or has("") else range(len(parts) - 1, 0, -1)
    found = [end for end in ends if has(os.path.join(*parts[:end]))]
    return [".".join(parts[:found[0] + 1])] if found else []


def taken_for(parts):
    """The package in which the course's program would have found this module or file: `agent`, or a folder in `agents`.
    Its content has been handed in without it."""
    above = {"agent": 1, "agents": 2}.get(parts[0], 0)
    if inside or len(parts) <= above or not above or os.path.exists(os.path.join(folder, parts[0])):
        return []
    whole = os.path.join(folder, *top_of(main).split("."))
    place = os.path.join(whole if os.path.isdir(whole) else folder, parts[above])
    found = all(part.isidentifier() for part in parts[:above]) and any(map(os.path.exists, [place, place + ".py"]))
    return [".".join(parts[:above])] if found else []


class Broken(Exception):
    """The package has a syntax error."""


def broken(file, error):
    """Keeps a syntax error as the adapter would print it, and ends."""
    kind, line = type(error).__name__, getattr(error, "lineno", None) or 1
    text = " ".join(str(getattr(error, "msg", error)).split())
    if sys.version_info < NEEDED_PYTHON:
        text += f"; the course used Python 3.12, and this is {sys.version.split()[0]}"
    printed["broken"] = f"{os.path.relpath(file, folder)}:{line}: {kind}: {text}"
    raise Broken


def begins_empty(tree):
    """Whether a package can't define the agent's class itself."""
    own = (ast.ClassDef, ast.ImportFrom)
    return tree is None or not any(isinstance(node, own) for node in tree.body)


def survey():
    """Reads the package, and the modules in which the adapter looks for the class."""
    tree = visit(main, 1)
    for inner in ("program", "player", "agent"):
        visit(f"{main}.{inner}", int(begins_empty(tree)))
    own = top_of(main)
    meant.extend(name for name in apart if name.count(".") <= min(unneeded))
    printed["leads_out"] = any(orphans) and not inside
    if meant:
        printed["means"] = meant[0]
    elif lacked or orphans:
        printed["inside"] = (lacked + [unnamed])[0]
    printed["imports"] = [name for name in tops if name != own and name.split(".")[0] != "referee"]


def be_bounded():
    """Bounds what a package can take from the machine, before anything of it is read."""
    signal.alarm(seconds)
    for what, most in [(resource.RLIMIT_CPU, CPU_SECONDS_MAX), (resource.RLIMIT_AS, MEMORY_MAX)]:
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))
    os.nice(NICENESS)
    # What a system doesn't have is left.
    try:
        # If memory runs out, this is killed, not what started it.
        with open("/proc/self/oom_score_adj", "w") as adjustment:
            adjustment.write("1000")
    except OSError:
        pass
    try:
        # A signal comes at the end of the standard input.
        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(0, fcntl.F_SETFL, os.O_ASYNC)
    except OSError:
        pass
    if select.select([0], [], [], 0)[0]:
        sys.exit(1)  # It had ended before.


be_bounded()
if len(sys.argv) > 6:
    import binascii
    import marshal
    import zlib

    compiled = zlib.compress(marshal.dumps(compile(sys.argv[6], "<string>", "exec", dont_inherit=True)))
    printed["code"] = f"{sys.hexversion} {binascii.b2a_base64(compiled, newline=False).decode()}"
try:
    survey()
except (Broken, RecursionError, MemoryError):
    pass  # Nothing more is known about such a package before it runs.
print(json.dumps(printed))
