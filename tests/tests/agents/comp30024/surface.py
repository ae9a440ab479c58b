"""What agents rely on in `referee.game`: expressions, and what each gives. Then it grows."""

import copy
import pickle

import referee.game.coord as coord_module
from referee.game import *
from referee.game import constants
from referee.game.actions import Coord as coord_from_actions
from referee.game.board import BOARD_N as size, CellState, ILLEGAL_RED_DIRECTIONS
from referee.game.coord import Vector2
from referee.game.exceptions import IllegalActionException
from referee.game.player import PlayerColor

VALUES = [
    ("str(Coord(0, 3))", "0-3"),
    ("repr(Coord(0, 3))", "Coord(r=0, c=3)"),
    ("Coord(0, 3) + Direction.DownLeft", "1-2"),
    ("Coord(1, 3) - Direction.Down", "0-3"),
    ("Coord(1, 3) + Direction.Down + Direction.Down", "3-3"),
    ("Coord(1, 3) + Vector2(2, 1)", "3-4"),
    ("Coord(1, 3) + Direction.Right * 3", "1-6"),
    ("Coord(2, 3) * 2", "4-6"),
    ("tuple(Coord(4, 5))", "(4, 5)"),
    ("hash(Coord(4, 5)) == hash(Vector2(4, 5)) == hash((4, 5))", "True"),
    ("Coord(4, 5) == Coord(4, 5)", "True"),
    ("Coord(4, 5) == Vector2(4, 5)", "False"),
    ("Coord(4, 5) == (4, 5)", "False"),
    ("{Coord(4, 5): 1}[Coord(4, 5)]", "1"),
    ("Coord(0, 7) < Coord(1, 0) <= Coord(1, 0)", "True"),
    ("sorted([Coord(2, 0), Coord(0, 2)])[0]", "0-2"),
    ("max(Coord(2, 0), Coord(0, 2))", "2-0"),
    ("str(Vector2(1, 2))", "Vector2(1, 2)"),
    ("Vector2(1, 2) + Direction.Up", "Vector2(0, 2)"),
    ("-Vector2(1, 2)", "Vector2(-1, -2)"),
    ("Vector2(0, 1) < Vector2(1, 0)", "True"),
    ("[way.name for way in Direction]", "['Down', 'DownLeft', 'DownRight', 'Up', 'UpLeft', "
     "'UpRight', 'Left', 'Right']"),
    ("''.join(map(str, Direction))", "[↓][↙][↘][↑][↖][↗][←][→]"),
    ("repr(Direction.Down)", "<Direction.Down: Vector2(r=1, c=0)>"),
    ("(Direction.UpLeft.r, Direction.UpLeft.c)", "(-1, -1)"),
    ("tuple(Direction.UpLeft)", "(-1, -1)"),
    ("-Direction.DownLeft is Direction.UpRight", "True"),
    ("Direction.Left * 2", "Vector2(0, -2)"),
    ("Direction((1, 0)) is Direction(Vector2(1, 0)) is Direction.Down", "True"),
    ("Direction['Up'].value", "Vector2(-1, 0)"),
    ("len({Direction.Up, Direction(Vector2(-1, 0))})", "1"),
    ("[str(color) for color in PlayerColor]", "['RED', 'BLUE']"),
    ("PlayerColor.RED.opponent, PlayerColor.BLUE.opponent.name", "(<PlayerColor.BLUE: 1>, 'RED')"),
    ("(int(PlayerColor.RED), int(PlayerColor.BLUE))", "(1, -1)"),
    ("['red', 'blue'][PlayerColor.BLUE]", "blue"),
    ("PlayerColor(0)", "RED"),
    ("MoveAction(Coord(0, 3), Direction.Down).directions == (Direction.Down,)", "True"),
    ("MoveAction(Coord(0, 3), [Direction.Down]).directions[0].name", "Down"),
    ("str(MoveAction(Coord(0, 3), (Direction.Down, Direction.Left)))", "MOVE(0-3, [[↓], [←]])"),
    ("str(MoveAction(Coord(0, 3), None))", "MOVE(<invalid coord/directions>)"),
    ("repr(MoveAction(Coord(0, 3), ()))", "MoveAction(coord=Coord(r=0, c=3), _directions=())"),
    ("len({MoveAction(Coord(0, n), (Direction.Up,)) for n in (3, 3, 4)})", "2"),
    ("str(GrowAction()), repr(GrowAction())", "('GROW', 'GrowAction()')"),
    ("GrowAction() == GrowAction()", "True"),
    ("(GAME_NAME, NUM_PLAYERS, BOARD_N, MAX_TURNS)", "('Freckers', 2, 8, 150)"),
    ("constants.BOARD_N == size == BOARD_N", "True"),
    ("coord_from_actions is Coord is coord_module.Coord", "True"),
    ("Coord.__module__, Board.__module__", "('referee.game.coord', 'referee.game.board')"),
    ("copy.deepcopy(Coord(1, 2)), pickle.loads(pickle.dumps(MoveAction(Coord(1, 2), ())))",
     "(Coord(r=1, c=2), MoveAction(coord=Coord(r=1, c=2), _directions=()))"),
    ("pickle.loads(pickle.dumps(Direction.Up)) is Direction.Up", "True"),
    ("issubclass(IllegalActionException, PlayerException)", "True"),
    ("Direction.Up in ILLEGAL_RED_DIRECTIONS, len(ILLEGAL_RED_DIRECTIONS)", "(True, 3)"),
    ("str(CellState()), CellState('LilyPad').state, CellState(None) == CellState()",
     "('CellState(None)', 'LilyPad', True)"),
    ("starred('constants')", "BOARD_N GAME_NAME MAX_TURNS NUM_PLAYERS"),
    ("starred('exceptions')", "IllegalActionException PlayerException"),
    ("starred('actions')", "Action Coord Direction GrowAction MoveAction dataclass"),
    ("starred('coord')", "BOARD_N Coord Direction Enum Generator Vector2 dataclass"),
    ("starred('player')", "ABC Action Enum Player PlayerColor abstractmethod"),
    ("{'Board', 'CellState', 'Coord', 'MAX_TURNS'} - set(starred('board').split())", "set()"),
    ("{'Board', 'constants', 'GameEnd'} - set(starred().split())", "set()"),
    ("{'Vector2', 'CellState'} & set(starred().split())", "set()"),
    ("Board()._assert_coord_valid(Coord(7, 7))", "None"),
    ("Board()._assert_coord_occ_by(Coord(7, 3), PlayerColor.BLUE)", "None"),
    ("Board()._assert_coord_empty(Coord(3, 3))", "None"),
    ("Board()._assert_direction_valid(Direction.Up)", "None"),
    ("Board()._assert_direction_legal(Direction.Up, PlayerColor.BLUE)", "None"),
    ("Board()._assert_has_attr(MoveAction(None, None), 'directions')", "None"),
    ("str(Board()._resolve_move_action(MoveAction(Coord(0, 3), [Direction.Down])).action)",
     "MOVE(0-3, [[↓]])"),
    ("len(Board()._resolve_grow_action(GrowAction()).cell_mutations)", "2"),
    ("GameBegin(None), GameEnd(winner=None).winner", "(GameBegin(board=None), None)"),
]
START = """
* R R R R R R * 
. * * * * * * . 
. . . . . . . . 
. . . . . . . . 
. . . . . . . . 
. . . . . . . . 
. * * * * * * . 
* B B B B B B * 
"""
ERRORS = [
    ("Coord(-1, 0)", ValueError),
    ("Coord(0, 8)", ValueError),
    ("Coord(0, 3) + Direction.Up", ValueError),
    ("-Coord(1, 1)", ValueError),
    ("Direction((2, 0))", ValueError),
    ("PlayerColor(2)", ValueError),
    ("Direction.Up + Direction.Left", TypeError),
    ("setattr(Coord(0, 0), 'r', 1)", AttributeError),
    ("setattr(MoveAction(Coord(0, 0), ()), 'coord', None)", AttributeError),
    ("Board().undo_action()", IndexError),
    ("Board()[Vector2(9, 0)]", IndexError),
    ("Board().apply_action(None)", IllegalActionException),
    ("Board().apply_action(MoveAction(Coord(0, 3), []))", IllegalActionException),
    ("Board().apply_action(MoveAction(Coord(0, 3), [Direction.Up]))", IllegalActionException),
    ("Board().apply_action(MoveAction(Coord(0, 3), [Direction.Left]))", IllegalActionException),
    ("Board().apply_action(MoveAction(Coord(7, 3), [Direction.Up]))", IllegalActionException),
    ("Board().apply_action(MoveAction(Coord(0, 3), [Direction.Down] * 2))", IllegalActionException),
    ("Board()._assert_coord_valid(Vector2(0, 0))", IllegalActionException),
    ("Board()._assert_coord_valid((0, 0))", IllegalActionException),
    ("Board()._assert_coord_occ_by(Coord(0, 3), PlayerColor.BLUE)", IllegalActionException),
    ("Board()._assert_coord_occ_by(Coord(3, 3), None)", IllegalActionException),
    ("Board()._assert_coord_empty(Coord(1, 1))", IllegalActionException),
    ("Board()._assert_direction_valid((1, 0))", IllegalActionException),
    ("Board()._assert_direction_legal(Direction.Up, PlayerColor.RED)", IllegalActionException),
    ("Board()._assert_direction_legal(Direction.Down, PlayerColor.BLUE)", IllegalActionException),
    ("Board()._assert_has_attr(GrowAction(), 'coord')", IllegalActionException),
    ("Board()._resolve_move_action(GrowAction())", IllegalActionException),
    ("__import__('referee.game.nothing')", ModuleNotFoundError),
]


def starred(module=""):
    """What `import *` takes from a module of `referee.game`, or from itself."""
    taken = {}
    exec(f"from referee.game{module and '.'}{module} import *", taken)
    return " ".join(sorted(name for name in taken if name != "__builtins__"))


def board_plays():
    """Plays on the board and takes it all back."""
    board = Board()
    assert board.render() == START[1:], board.render()
    assert "\033[31mR\033[0m" in board.render(use_color=True, use_unicode=True)
    step = board.apply_action(MoveAction(Coord(0, 3), [Direction.Down]))
    assert step.action == MoveAction(Coord(0, 3), (Direction.Down,)), step
    assert len(step.cell_mutations) == 2 and board.turn_color == PlayerColor.BLUE
    assert board[Coord(0, 3)].state is None and board[Coord(1, 3)].state == PlayerColor.RED
    asked = board._resolve_grow_action(GrowAction())
    grown = board.apply_action(GrowAction())
    assert asked == grown, (asked, grown)
    # Row 5 has no pads yet, and no blue frog is next to it.
    assert {str(it.cell) for it in grown.cell_mutations} == {"6-0", "6-7"}, grown
    jump = MoveAction(Coord(0, 2), [Direction.DownRight])
    try:
        board.apply_action(jump)
        raise AssertionError("jumped onto a cell without a pad")
    except IllegalActionException as refused:
        assert refused.args[1] == PlayerColor.RED
    board.apply_action(GrowAction())
    board.apply_action(GrowAction())
    board.apply_action(jump)
    assert board[Coord(2, 4)] == CellState(PlayerColor.RED) and board.turn_count == 5
    assert not board.game_over and board.winner_color is None
    while board.turn_count:
        board.undo_action()
    assert board.render() == START[1:] and board.turn_color == PlayerColor.RED
    ends = {Coord(7, c): CellState(PlayerColor.RED) for c in range(6)}
    over = Board({**board._state, **ends}, PlayerColor.BLUE)
    assert over.game_over and over.winner_color == PlayerColor.RED
    assert over.turn_color == PlayerColor.BLUE and board.winner_color is None


class Agent:
    """Checks, then plays."""

    def __init__(self, color, **referee):
        wrong = []
        for text, wanted in VALUES:
            got = str(eval(text))
            if got != wanted:
                wrong.append(f"{text}: {got}, not {wanted}")
        for text, wanted in ERRORS:
            try:
                wrong.append(f"{text}: {eval(text)!r}, not a {wanted.__name__}")
            except wanted:
                pass
        if wrong:
            raise AssertionError("; ".join(wrong))
        board_plays()

    def action(self, **referee):
        """Always legal."""
        return GrowAction()

    def update(self, color, action, **referee):
        """Nothing to keep."""
