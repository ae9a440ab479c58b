"""The table of results."""

import dataclasses


@dataclasses.dataclass
class Line:
    """The result of a row at a level, as one user."""

    id: str
    what: str
    level: str
    user: str
    expected: str
    got: str
    state: str
    problems: list
    worked: list


def joined(lines):
    """Joins lines that differ only in level and user."""
    found = {}
    for line in lines:
        key = (line.id, line.expected, line.got, line.state)
        found.setdefault(key, []).append(line)
    return [(group[0], places(group)) for group in found.values()]


def places(group):
    """Formats the levels, with the user if not all ran them: `basic confined/user`."""
    users = {}
    for line in group:
        users.setdefault(line.level, []).append(line.user)
    if all(set(it) == {"root", "user"} for it in users.values()):
        return " ".join(users)
    return " ".join(f"{level}/{','.join(it)}" for level, it in users.items())


def show(lines):
    """Formats the table as text."""
    rows = [("row", "what", "level", "expected", "got")]
    for line, where in joined(lines):
        mark = {"failed": "FAILED ", "ok": ""}.get(line.state, "")
        rows.append((line.id, line.what, where, line.expected, mark + line.got))
    widths = [max(len(row[at]) for row in rows) for at in range(4)]
    text = ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[4]])
            for row in rows]
    for line in lines:
        if line.state == "failed":
            text.append(f"\nrow {line.id} at {line.level} as {line.user}: {line.what}")
            text += [f"    {problem}" for problem in line.problems]
    return "\n".join(text)
