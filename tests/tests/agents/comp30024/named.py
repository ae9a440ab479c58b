"""Classes under other names, with other signatures than the course's."""

from referee.game import GrowAction, PlayerColor


class Bare:
    """Takes nothing that it doesn't use."""

    def __init__(self, color):
        assert color in PlayerColor

    def action(self):
        """Always legal."""
        return GrowAction()

    def update(self, color, action):
        """Nothing to keep."""


class Picky(Bare):
    """Names what it uses."""

    def __init__(self, *, color, time_remaining):
        super().__init__(color)
        assert time_remaining == 60.0, time_remaining

    def action(self, space_limit=None, *, time_remaining):
        """Always legal."""
        assert space_limit == 512.0 and 0 < time_remaining, (space_limit, time_remaining)
        return super().action()


class Curious(Bare):
    """Asks for all that there is, and says it."""

    def __init__(self, color, **referee):
        super().__init__(color)
        print(dict(sorted(referee.items())))

    def action(self, **referee):
        """Always legal."""
        print(dict(sorted(referee.items())))
        return super().action()


class Sleepy(Bare):
    """Takes its time at the first turn, in threads too."""

    def action(self):
        """Always legal."""
        import threading
        import time
        threading.Thread(target=time.sleep, args=[1000]).start()
        time.sleep(0.3)
        return super().action()


class Crashing(Sleepy):
    """Its thread runs on when it crashes."""

    def action(self):
        """Crashes."""
        super().action()
        raise RuntimeError("crashed with a thread")
