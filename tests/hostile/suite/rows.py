"""Reads and checks the rows of rows/*.toml, ordered by number."""

import dataclasses
import json
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent.parent
LEVELS = ["none", "basic", "confined", "isolated", "metered"]
# Verdicts: a fault as in transcripts, or `ok`.
VERDICTS = {"ok", "start", "late wall", "late cpu", "garbled", "illegal", "unasked", "gone",
            "flood", "memory", "processes"}


class WrongRow(Exception):
    """A row is invalid."""


@dataclasses.dataclass
class Row:
    """One row of the table; ../README.md documents its fields."""

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
    figures: dict = dataclasses.field(default_factory=dict)
    attacks: dict = dataclasses.field(default_factory=dict)
    uncontrolled: list = dataclasses.field(default_factory=list)
    turns_max: int = -1
    cpu_ms: list = dataclasses.field(default_factory=list)
    charged_over_ms: list = dataclasses.field(default_factory=list)
    uncharged_s: float = 0
    rss_mb: int = 96
    within_s: int = 300
    quick: bool = False
    alone: bool = False
    counted: bool = False
    untidy: bool = False
    needs: list = dataclasses.field(default_factory=list)
    users: list = dataclasses.field(default_factory=lambda: ["root", "user"])
    check: str = ""
    by: str = ""

    def expected(self, level):
        """Returns the correct verdicts at a level."""
        return self.expect_at.get(level, self.expect)

    def holds_at(self, level):
        """Returns whether the row must hold at a level."""
        return LEVELS.index(level) >= LEVELS.index(self.level)

    def denied_at(self, level):
        """Returns the row's attacks that must fail at a level."""
        at = LEVELS.index(level)
        return [name for name, since in self.attacks.items() if LEVELS.index(since) <= at]


def number_of(row):
    """Returns a key that sorts rows by number, not as text."""
    number, letter = re.fullmatch(r"(\d+)([a-z]*)", row.id).groups()
    return int(number), letter


def checked(fields, path, table):
    known = {field.name for field in dataclasses.fields(Row)}
    where = f"{path.name}, row {fields.get('id', '?')}"
    unknown = set(fields) - known
    if unknown:
        raise WrongRow(f"{where}: no fields {sorted(unknown)}")
    row = Row(**fields)
    # An attack of the referee's own table must fail from its level there on.
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
    """Reads all rows; they refer to this referee's table of attacks. Raises WrongRow."""
    import tomllib  # Needs Python 3.11; the caller has checked that.
    table = json.loads(subprocess.check_output([referee, "__attacker", "table"]))
    rows = []
    for path in sorted(folder.glob("*.toml")):
        for fields in tomllib.loads(path.read_text(encoding="utf-8"))["row"]:
            rows.append(checked(fields, path, table))
    rows.sort(key=number_of)
    ids = [row.id for row in rows]
    twice = {it for it in ids if ids.count(it) > 1}
    if twice:
        raise WrongRow(f"duplicate ids: {sorted(twice)}")
    return rows
