from simple_agent import HexAgent

HexAgent().run()
