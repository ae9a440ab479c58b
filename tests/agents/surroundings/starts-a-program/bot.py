import subprocess

from simple_agent import SimpleAgent

engine = subprocess.Popen(["alphahex", "--stdin"])
SimpleAgent().run()
