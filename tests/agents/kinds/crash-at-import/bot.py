BOOK = {"openings": []}
FIRST = BOOK["openings"][0]
