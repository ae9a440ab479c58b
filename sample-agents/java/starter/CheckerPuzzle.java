import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

final class CheckerPuzzle extends Game {
    /** The cells that the pieces have to fill. */
    final Set<Cell> goal;

    CheckerPuzzle(Json setup) {
        super(setup, Board.of("diamond", setup.integer("size", 4)), "peg");
        int depth = setup.integer("depth", 3);
        int last = 2 * setup.integer("size", 4) - 2;
        goal = cells.stream().filter(cell -> cell.row() + cell.column() < depth)
                .collect(Collectors.toSet());
        List<Cell> camp = cells.stream()
                .filter(cell -> last - cell.row() - cell.column() < depth).toList();
        Json given = position.get("pieces");
        place(List.of(given.isNull() ? camp : Cell.listOf(given)));
    }

    @Override
    protected List<Action> legalActions() {
        return moves(false, Set.of(), Set.of());
    }

    @Override
    protected void apply(Action action) {
        pieces.remove(action.from());
        pieces.put(action.to(), 0);
    }

    @Override
    Ending ending() {
        if (pieces.keySet().equals(goal)) {
            return new Ending(0, "solved");
        }
        return turn >= setup.integer("max_moves", 200) ? new Ending(NOBODY, "move_limit") : null;
    }
}
