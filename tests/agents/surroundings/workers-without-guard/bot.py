import multiprocessing

from simple_agent import SimpleAgent


def search(number):
    return number


multiprocessing.set_start_method("spawn", force=True)
# In one line, where it is met while it starts workers and while it waits for them.
multiprocessing.Pool(1).map(search, [1])
SimpleAgent().run()
