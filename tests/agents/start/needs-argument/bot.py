import sys

from simple_agent import SimpleAgent

depth = int(sys.argv[1])
SimpleAgent().run()
