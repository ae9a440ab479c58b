from simple_agent import SimpleAgent

book = open("../book.json").read()
SimpleAgent().run()
