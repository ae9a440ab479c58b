"""The course's sample of 2019 had this name for its class: it passes, legal or not."""


class ExamplePlayer:
    """Passes."""

    def __init__(self, colour):
        self.colour = colour

    def action(self):
        """Legal for nobody who has a piece to move."""
        return ("PASS", None)

    def update(self, colour, action):
        """Says what it is told."""
        print(f"{self.colour} is told: {colour} {action}")
