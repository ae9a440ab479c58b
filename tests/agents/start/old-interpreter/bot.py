#!/usr/bin/python2.2
from simple_agent import SimpleAgent

SimpleAgent().run()
