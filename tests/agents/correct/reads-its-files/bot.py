import json
import pathlib

from simple_agent import SimpleAgent

book = json.loads((pathlib.Path(__file__).parent / "book.json").read_text())
assert book == {"openings": []}
SimpleAgent().run()
