import time

from simple_agent import SimpleAgent

time.sleep(1)
SimpleAgent().run()
