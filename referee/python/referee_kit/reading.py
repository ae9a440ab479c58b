"""Reads transcripts and contests into plain dictionaries, and pandas where it is installed."""
import gzip
import html
import json
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any, Dict, Iterator, List, Union

__all__ = ["Match", "Matches", "iter_records", "records", "standings"]

#: How high a match is in a notebook, in pixels.
HEIGHT = 560
#: No line of a transcript is longer, in bytes.
LINE_BYTES = 1 << 26
#: What reading a file raises that is cut off, damaged or nested too deeply.
UNREADABLE = (ValueError, RecursionError, EOFError, OSError, zlib.error)


class Match(Dict[str, Any]):
    """A match: the fields of its header, and `plies`, `verdict` and `outcome`.

    A ply has `turn`, `seat`, `action`, `used_ms` (charged), `wall_ns`, `cpu_ns` (None if unknown), `lag_ns`
    (the referee's own delay), and `info`, the messages of that name that the agent sent in its turn. `verdict` and `outcome`
    are None while the match is not over. A notebook shows the match in the viewer.
    """

    @property
    def names(self) -> List[str]:
        """The agents' names, by seat."""
        return [seat["name"] for seat in self["seats"]]

    def _repr_html_(self) -> str:
        page = _run("replay", "export", self["path"], "--format", "html", "--out", "-")
        return (f'<iframe srcdoc="{html.escape(page)}" width="100%" height="{HEIGHT}" '
                'style="border: 0" allowfullscreen></iframe>')


class Matches(List[Match]):
    """Matches, as a list; `seats()` and `plies()` are tables."""

    def seats(self) -> Any:
        """A pandas.DataFrame with a row for each seat of each match."""
        return _frame(
            {"match": match["match"], "game": match["game"], "seat": number, "agent": name,
             "place": _place(match, number), "result": _verdict(match, "result"),
             "reason": _verdict(match, "reason"), "fault": (_seat(match, number).get("fault") or {}).get("kind"),
             "used_ms": _seat(match, number).get("used_ms"), "turns": _seat(match, number).get("turns"),
             "started": match["started"]}
            for match in self for number, name in enumerate(match.names))

    def plies(self) -> Any:
        """A pandas.DataFrame with a row for each ply of each match."""
        return _frame(
            {"match": match["match"], "agent": match.names[ply["seat"]],
             **{field: value for field, value in ply.items() if field != "info"},
             "score": next((it["score"] for it in reversed(ply["info"]) if "score" in it), None)}
            for match in self for ply in match["plies"])


def iter_records(path: Union[str, Path]) -> Iterator[Match]:
    """Reads a transcript, or all below a folder, such as a contest's, by name: one match after the other.

    Files that aren't transcripts are left out; one that is cut off is read up to that point.
    """
    for file in transcripts(path):
        yield from _read(file)


def transcripts(path: Union[str, Path]) -> List[Path]:
    """Returns the file, or all files below a folder that may be transcripts, by name."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist")
    return [path] if path.is_file() else sorted(
        file for pattern in ("*.jsonl", "*.jsonl.gz") for file in path.rglob(pattern)
        if file.is_file() and not _is_handed_in(file, path))


def _is_handed_in(file: Path, folder: Path) -> bool:
    """Whether a file is in a contest's folder but not among its games, such as what came with an agent."""
    above = [folder, *(folder / part for part in file.relative_to(folder).parents)]
    return any((place / "contest.db").exists() and file.relative_to(place).parts[0] != "games" for place in above)


def records(path: Union[str, Path]) -> Matches:
    """Returns all matches of `iter_records`, with tables; they are in memory at once."""
    return Matches(iter_records(path))


def standings(folder: Union[str, Path]) -> Dict[str, Any]:
    """Returns the report of a contest, as `referee contest report --json` prints it."""
    report: Dict[str, Any] = json.loads(_run("contest", "report", str(folder), "--json"))
    return report


def _read(file: Path) -> Iterator[Match]:
    events = events_of(file)
    header = next(events, {})
    if header.get("type") != "header":
        return
    match = Match(header, path=str(file), plies=[], verdict=None, outcome=None)
    info: List[Dict[str, Any]] = []
    for event in events:
        kind = event.get("type")
        if kind == "line":
            info += _info(event)
        elif kind == "played":
            ply = {field: event.get(field) for field in
                   ("turn", "seat", "action", "used_ms", "wall_ns", "cpu_ns")}
            match["plies"].append({**ply, "lag_ns": event.get("lag_ns", 0), "info": info})
            info = []
        elif kind == "over":
            match["verdict"], match["outcome"] = event.get("verdict"), event.get("outcome")
    yield match


def events_of(file: Path) -> Iterator[Dict[str, Any]]:
    """Returns the lines of a transcript, up to where it is cut off."""
    with gzip.open(file, "rb") if file.suffix == ".gz" else open(file, "rb") as lines:
        try:
            for line in iter(lambda: lines.readline(LINE_BYTES), b""):
                event = json.loads(line)
                if not isinstance(event, dict):
                    return
                yield event
        except UNREADABLE:
            return  # Cut off, or another kind of file.


def _info(event: Dict[str, Any]) -> List[Dict[str, Any]]:
    """What an agent's line says, if it is an `info`."""
    try:
        message = json.loads(event["line"])
    except (KeyError, TypeError, *UNREADABLE):
        return []
    is_info = isinstance(message, dict) and message.pop("type", None) == "info"
    return [message] if is_info else []


def _verdict(match: Match, field: str) -> Any:
    return (match["verdict"] or {}).get(field)


def _place(match: Match, seat: int) -> Any:
    places = _verdict(match, "places")
    return places[seat] if places else None


def _seat(match: Match, seat: int) -> Dict[str, Any]:
    seats: List[Dict[str, Any]] = _verdict(match, "seats") or []
    return seats[seat] if seat < len(seats) else {}


def _frame(rows: Iterator[Dict[str, Any]]) -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("tables need pandas: pip install pandas") from None
    return pandas.DataFrame(list(rows))


def _run(*words: str) -> str:
    """What the program prints: the one of this Python's installation, else that in the PATH."""
    places = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    program = shutil.which("referee", path=os.pathsep.join(places))
    if program is None:
        raise FileNotFoundError("the program `referee` is not in the PATH")
    done = subprocess.run([program, *words], capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise RuntimeError(f"referee {words[0]}: {done.stderr.strip()}")
    return done.stdout
