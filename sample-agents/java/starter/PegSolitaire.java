import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

final class PegSolitaire extends Game {
    /** The cells that were without a peg at the start. */
    final SortedSet<Cell> open = new TreeSet<>();

    PegSolitaire(Json setup) {
        super(setup, Board.of(setup.text("shape", "triangle"), size(setup)), "peg");
        int end = size(setup) - 1;
        open.addAll(!setup.get("open").isNull() ? Cell.listOf(setup.get("open"))
                : isTriangle(setup) ? List.of(new Cell(2 * end / 3, end / 3))
                : List.of(new Cell(end / 2, end / 2)));
        List<Cell> camp = cells.stream().filter(cell -> !open.contains(cell)).toList();
        Json given = position.get("pegs");
        place(List.of(given.isNull() ? camp : Cell.listOf(given)));
    }

    private static boolean isTriangle(Json setup) {
        return setup.text("shape", "triangle").equals("triangle");
    }

    private static int size(Json setup) {
        return setup.integer("size", isTriangle(setup) ? 5 : 6);
    }

    @Override
    protected List<Action> legalActions() {
        return piecesOf(0).stream().flatMap(cell -> jumps(cell).keySet().stream()
                .map(to -> new Action("jump", cell, to))).toList();
    }

    @Override
    protected void apply(Action action) {
        pieces.remove(jumps(action.from()).get(action.to()));
        pieces.remove(action.from());
        pieces.put(action.to(), 0);
    }

    @Override
    Ending ending() {
        if (pieces.keySet().stream().anyMatch(cell -> !jumps(cell).isEmpty())) {
            return null;
        }
        boolean atStart = setup.text("finish", "any").equals("start");
        boolean isSolved = pieces.size() == 1 && (!atStart || has(open.first()));
        return isSolved ? new Ending(0, "solved") : new Ending(NOBODY, "stuck");
    }
}
