"""A strict Hex engine that speaks HTP, with options to misbehave.

It refuses pipelined commands, commands that it doesn't list, stones out of turn and occupied cells. At
the end it prints its board to stderr as `board BLACK.. / WHITE.. / TO_MOVE`.

Arguments: `swap=sides|pieces|none` is what a swap does on its board, `swaps` makes it swap whenever
possible, and each other argument is a way to misbehave.
"""
import os
import random
import select
import sys

WORDS = sys.argv[1:]
OPTIONS = dict(word.split("=", 1) for word in WORDS if "=" in word)
EFFECT = OPTIONS.get("swap", "sides")
COMMANDS = ["protocol_version", "name", "version", "list_commands", "boardsize", "clear_board",
            "play", "genmove", "time_left", "time_settings", "quit"]
if "bare" in WORDS:
    COMMANDS = ["boardsize", "clear_board", "play", "genmove", "quit"]
if "param_game" in WORDS:
    COMMANDS.append("param_game")
OTHER = {"black": "white", "white": "black"}


class Refused(Exception):
    """The command is answered with `?`."""


class Board:
    def __init__(self):
        self.size, self.stones, self.moves, self.to_move = 11, {}, 0, "black"

    def clear(self):
        self.stones, self.moves, self.to_move = {}, 0, "black"

    def cell(self, name):
        column, row = ord(name[0]) - ord("a"), int(name[1:]) - 1
        if not (0 <= column < self.size and 0 <= row < self.size):
            raise Refused(f"off the board: {name}")
        return row, column

    def play(self, colour, move):
        swaps = move.startswith("swap")
        if colour != self.to_move and not (self.moves == 0 and EFFECT == "none"):
            raise Refused(f"it is the turn of {self.to_move}")
        if swaps and (self.moves != 1 or EFFECT == "none"):
            raise Refused("no swap here")
        if swaps and EFFECT == "pieces":
            ((row, column),) = self.stones
            self.stones = {(column, row): colour}
        elif swaps:
            # The stone stays and the players exchange colours.
            colour = OTHER[colour]
            self.to_move = colour
        else:
            cell = self.cell(move)
            if cell in self.stones:
                raise Refused(f"occupied: {move}")
            self.stones[cell] = colour
        self.moves += 1
        self.to_move = OTHER[colour]

    def empty(self):
        cells = [(row, column) for row in range(self.size) for column in range(self.size)]
        return [cell for cell in cells if cell not in self.stones]

    def describe(self):
        by = {"black": [], "white": []}
        for (row, column), colour in sorted(self.stones.items()):
            by[colour].append(f"{chr(ord('a') + column)}{row + 1}")
        return f"board {' '.join(by['black'])} / {' '.join(by['white'])} / {self.to_move}"


def name_of(cell):
    return f"{chr(ord('a') + cell[1])}{cell[0] + 1}"


def genmove(board, colour):
    if "resign" in WORDS and board.moves > 1:
        return "resign"
    if "wrong-cell" in WORDS:
        return "z99z"
    if "die" in WORDS:
        os._exit(3)
    if "swaps" in WORDS and board.moves == 1:
        move = "swap-pieces"
    else:
        move = name_of(random.choice(board.empty()))
    board.play(colour, move)
    return move.upper() if "loud" in WORDS else move


def obey(board, line):
    command, *words = line.split()
    if command not in COMMANDS:
        raise Refused(f"unknown command: {command}")
    if command == "protocol_version" and "no-version" in WORDS:
        os._exit(4)
    if command == "boardsize":
        if "no-size" in WORDS:
            raise Refused("unacceptable size")
        board.size = int(words[0])
    elif command == "clear_board":
        board.clear()
    elif command == "play":
        if "refuses" in WORDS:
            raise Refused("illegal move")
        board.play(*words)
    elif command == "genmove":
        return genmove(board, *words)
    elif command == "time_left":
        int(words[1]), int(words[2])
    return {"protocol_version": "2", "name": "strict engine", "version": "1.0",
            "list_commands": "\n".join(COMMANDS)}.get(command, "")


def lines():
    """Yields commands; exits if one arrives before the reply to the previous one."""
    waiting = b""
    while True:
        while b"\n" not in waiting:
            more = os.read(0, 4096)
            if not more:
                return
            waiting += more
        line, waiting = waiting.split(b"\n", 1)
        if not waiting and select.select([0], [], [], 0)[0]:
            waiting = os.read(0, 4096)
        # At the end of the match the referee doesn't wait for the last reply.
        if waiting and not waiting.startswith(b"quit"):
            sys.exit(f"pipelined: {waiting!r}")
        yield line.decode()


def main():
    board = Board()
    random.seed(int(OPTIONS.get("seed", "1")))
    log = open(OPTIONS["log"], "w", encoding="ascii") if "log" in OPTIONS else None
    for line in lines():
        if log:
            print(line, file=log, flush=True)
        if "stray" in WORDS:
            print("info: thinking\ngogui-gfx: LABEL a1\n\ninfo: done", flush=True)
        if "chatter" in WORDS:
            print("hello", flush=True)
        if line == "quit":
            break
        try:
            reply = "= " + obey(board, line)
        except Refused as refused:
            reply = f"? {refused}"
        end = "\r\n" if "crlf" in WORDS else "\n"
        sys.stdout.write(reply.replace("\n", end) + end + ("" if "no-blank" in WORDS else end))
        if "twice" in WORDS and line.startswith("genmove"):
            sys.stdout.write("= a1\n\n")
        sys.stdout.flush()
    print(board.describe(), file=sys.stderr, flush=True)


main()
