"""Has the class name of the course's sample of 2019; always passes, legal or not."""


class ExamplePlayer:
    """Passes."""

    def __init__(self, colour):
        self.colour = colour

    def action(self):
        """Illegal if a piece can move."""
        return ("PASS", None)

    def update(self, colour, action):
        """Prints the update."""
        print(f"{self.colour} update: {colour} {action}")
