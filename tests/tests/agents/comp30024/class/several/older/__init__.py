"""Another version beside it: which of the two plays?"""
