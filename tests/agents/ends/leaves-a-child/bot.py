import subprocess

from simple_agent import SimpleAgent


class Agent(SimpleAgent):
    def on_hello(self, message):
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.Popen(["sleep", "3600"], **quiet)
        super().on_hello(message)


Agent().run()
