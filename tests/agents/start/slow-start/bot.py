from simple_agent import SimpleAgent

sum(number * number for number in range(10**9))
SimpleAgent().run()
