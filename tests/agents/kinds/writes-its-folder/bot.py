from simple_agent import SimpleAgent

log = open("bot.log", "w")
SimpleAgent().run()
