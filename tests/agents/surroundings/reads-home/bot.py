import os

from simple_agent import SimpleAgent

book = open(os.path.expanduser("~/book.json")).read()
SimpleAgent().run()
