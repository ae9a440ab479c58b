from simple_agent import SimpleAgent

if __name__ == "main":
    SimpleAgent().run()
