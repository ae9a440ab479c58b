"""Keeps notes beside itself."""

from pathlib import Path

from Killer_A import Agent as Base

NOTES = Path(__file__).parent / "notes.txt"


class Agent(Base):
    """Counts its matches."""

    def __init__(self, color, **referee):
        super().__init__(color, **referee)
        matches = int(NOTES.read_text()) + 1 if NOTES.exists() else 1
        NOTES.write_text(str(matches))
        print("match", matches)
