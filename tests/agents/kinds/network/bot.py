import urllib.request

from simple_agent import SimpleAgent

book = urllib.request.urlopen("http://127.0.0.1:9/book").read()
SimpleAgent().run()
