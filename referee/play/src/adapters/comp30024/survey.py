"""Reads an agent's package without running it.

Prints the interpreter, the modules beside the package that it imports, and the first syntax error that its import
would meet. Leaves their bytecode where an import would, so that a match, which can't, doesn't compile them again.
"""

import ast
import os
import resource
import signal
import sys

NEEDED_PYTHON = (3, 10)
SECONDS_MAX = 20
MEMORY_MAX = 2 << 30

folder, main = sys.argv[1:3]
# How certainly each module is imported: 0 perhaps, 1 always.
seen = {}
tops = []


def file_of(name):
    """The file of a module below the folder, if there is one."""
    place = os.path.join(folder, *name.split("."))
    files = [os.path.join(place, "__init__.py"), place + ".py"]
    return next((file for file in files if os.path.isfile(file)), None)


def visit(name, certain):
    """Reads a module, the packages that it is in, and what it imports."""
    parts = name.split(".")
    for end in range(1, len(parts)):
        visit(".".join(parts[:end]), certain)
    file = file_of(name)
    if file is None or seen.get(name, -1) >= certain:
        return None
    seen[name] = certain
    if parts[0] not in tops:
        tops.append(parts[0])
    try:
        with open(file, "rb") as source:
            tree = ast.parse(source.read(), file)
        compile(tree, file, "exec", dont_inherit=True)
        keep_bytecode(file)
    except (SyntaxError, ValueError) as error:
        if certain:
            broken(file, error)
        return None
    except OSError:
        return None
    package = parts if file.endswith("__init__.py") else parts[:-1]
    for node in ast.walk(tree):
        for imported in imports(node, package):
            visit(imported, certain and node in tree.body)
    return tree


def keep_bytecode(file):
    """Writes a module's bytecode if it is missing or older."""
    place, name = os.path.split(file)
    stem = os.path.splitext(name)[0]
    bytecode = os.path.join(place, "__pycache__", f"{stem}.{sys.implementation.cache_tag}.pyc")
    if os.path.isfile(bytecode) and os.path.getmtime(bytecode) >= os.path.getmtime(file):
        return
    # By a link, a package could replace the bytecode of another one.
    inside = os.path.relpath(bytecode, folder)
    if os.path.realpath(bytecode) != os.path.join(os.path.realpath(folder), inside):
        return
    import py_compile

    try:
        py_compile.compile(file, cfile=bytecode)
    except OSError:
        pass  # It is compiled for each match then.


def imports(node, package):
    """The modules that a statement may import."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    above = package[:len(package) - node.level + 1] if node.level else []
    start = ".".join(above + ([node.module] if node.module else []))
    inner = [".".join([start, alias.name]) for alias in node.names]
    return [name for name in [start] + inner if name and not name.startswith(".")]


def broken(file, error):
    """Prints a syntax error as the adapter would, and ends."""
    kind, line = type(error).__name__, getattr(error, "lineno", None) or 1
    text = " ".join(str(getattr(error, "msg", error)).split())
    if sys.version_info < NEEDED_PYTHON:
        text += f"; the course used Python 3.12, and this is {sys.version.split()[0]}"
    print(f"broken {os.path.relpath(file, folder)}:{line}: {kind}: {text}")
    sys.exit()


def begins_empty(tree):
    """Whether a package can't define the agent's class itself."""
    own = (ast.ClassDef, ast.ImportFrom)
    return tree is None or not any(isinstance(node, own) for node in tree.body)


def survey():
    """Reads the package, and the modules in which the adapter looks for the class."""
    tree = visit(main, 1)
    for inner in ("program", "player", "agent"):
        visit(f"{main}.{inner}", int(begins_empty(tree)))
    own = main.split(".")[0]
    for name in tops:
        if name not in (own, "referee"):
            print(f"imports {name}")


signal.alarm(SECONDS_MAX)
resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
print(f"python {sys.executable}")
try:
    survey()
except (RecursionError, MemoryError):
    pass  # Nothing is known about such a package before it runs.
