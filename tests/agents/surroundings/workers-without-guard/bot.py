import multiprocessing

from simple_agent import SimpleAgent


def search(number):
    return number


multiprocessing.set_start_method("spawn", force=True)
with multiprocessing.Pool(1) as pool:
    pool.map(search, [1])
SimpleAgent().run()
