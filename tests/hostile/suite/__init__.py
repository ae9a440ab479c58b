"""The hostile suite: programs that misbehave, what has to come of each, and what runs them."""
