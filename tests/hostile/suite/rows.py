"""The rows: read from rows/*.toml, checked, in the order of their numbers."""

import dataclasses
import json
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent.parent
LEVELS = ["none", "basic", "confined", "isolated", "metered"]
# What a verdict can be: a fault of transcripts, or `ok` where nobody is at fault.
VERDICTS = {"ok", "start", "late wall", "late cpu", "garbled", "illegal", "unasked", "gone",
            "flood", "memory", "processes"}


class WrongRow(Exception):
    """A row that can't be read."""


@dataclasses.dataclass
class Row:
    """One row of the table; README.md beside this folder says what its fields mean."""

    id: str
    what: str
    level: str = "basic"
    program: str = ""
    arguments: list = dataclasses.field(default_factory=list)
    opponent: str = "@first"
    seat: int = 0
    game: str = "hex"
    setup: str = "size=3"
    games: int = 1
    options: list = dataclasses.field(default_factory=list)
    clock: list = dataclasses.field(default_factory=lambda: ["--clock", "1h"])
    expect: list = dataclasses.field(default_factory=lambda: ["ok"])
    expect_at: dict = dataclasses.field(default_factory=dict)
    text: str = ""
    says: dict = dataclasses.field(default_factory=dict)
    attacks: dict = dataclasses.field(default_factory=dict)
    uncontrolled: list = dataclasses.field(default_factory=list)
    turns_max: int = -1
    cpu_ms: list = dataclasses.field(default_factory=list)
    uncharged_s: float = 0
    rss_mb: int = 96
    within_s: int = 300
    quick: bool = False
    alone: bool = False
    untidy: bool = False
    needs: list = dataclasses.field(default_factory=list)
    users: list = dataclasses.field(default_factory=lambda: ["root", "user"])
    check: str = ""
    by: str = ""

    def expected(self, level):
        """The verdicts that are right at a level."""
        return self.expect_at.get(level, self.expect)

    def holds_at(self, level):
        """Whether the row is judged at a level."""
        return LEVELS.index(level) >= LEVELS.index(self.level)

    def denied_at(self, level):
        """The attacks that must have failed at a level, of all that the row tries."""
        at = LEVELS.index(level)
        return [name for name, since in self.attacks.items() if LEVELS.index(since) <= at]


def number_of(row):
    """Rows are sorted by their numbers, not as text."""
    number, letter = re.fullmatch(r"(\d+)([a-z]*)", row.id).groups()
    return int(number), letter


def checked(fields, path, table):
    known = {field.name for field in dataclasses.fields(Row)}
    where = f"{path.name}, row {fields.get('id', '?')}"
    unknown = set(fields) - known
    if unknown:
        raise WrongRow(f"{where}: no fields {sorted(unknown)}")
    row = Row(**fields)
    # An attack of the referee's own table must fail from the level on that the table has.
    row.attacks = {name: table.get(since, since) for name, since in row.attacks.items()}
    if not re.fullmatch(r"\d+[a-z]*", row.id):
        raise WrongRow(f"{where}: an id is a number and perhaps a letter")
    verdicts = row.expect + [it for at in row.expect_at.values() for it in at]
    levels = [row.level, *row.expect_at, *row.attacks.values()]
    for wrong in [it for it in verdicts if it not in VERDICTS]:
        raise WrongRow(f"{where}: no verdict {wrong!r}")
    for wrong in [it for it in levels if it not in LEVELS]:
        raise WrongRow(f"{where}: no level {wrong!r}")
    if sum(map(bool, (row.program, row.check, row.by))) != 1:
        raise WrongRow(f"{where}: needs one of `program`, `check` and `by`")
    if set(row.uncontrolled) - set(row.attacks):
        raise WrongRow(f"{where}: `uncontrolled` names no attack of its own")
    return row


def load(referee, folder=HERE / "rows"):
    """All rows, for a referee whose table of attacks they refer to. Raises WrongRow."""
    import tomllib  # Python 3.11; who calls this has made sure of it.
    table = json.loads(subprocess.check_output([referee, "__attacker", "table"]))
    rows = []
    for path in sorted(folder.glob("*.toml")):
        for fields in tomllib.loads(path.read_text(encoding="utf-8"))["row"]:
            rows.append(checked(fields, path, table))
    rows.sort(key=number_of)
    ids = [row.id for row in rows]
    twice = {it for it in ids if ids.count(it) > 1}
    if twice:
        raise WrongRow(f"ids that are there twice: {sorted(twice)}")
    return rows
