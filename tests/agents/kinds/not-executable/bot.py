#!/usr/bin/env python3
from simple_agent import SimpleAgent

SimpleAgent().run()
