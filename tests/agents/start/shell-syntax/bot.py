from simple_agent import SimpleAgent

SimpleAgent().run()
