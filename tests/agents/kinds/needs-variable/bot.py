import os

from simple_agent import SimpleAgent

token = os.environ["BOT_TOKEN"]
SimpleAgent().run()
