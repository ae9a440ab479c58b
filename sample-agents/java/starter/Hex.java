import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/** Black connects first and last column, red first and last row; see {@code colour(seat)}. */
final class Hex extends Game {
    final int size;
    private List<String> sides;
    private int winner = NOBODY;

    Hex(Json setup) {
        super(setup, Board.of("diamond", setup.integer("size", 11)), "black", "red");
        size = setup.integer("size", 11);
        boolean isBlackFirst = setup.text("first", "black").equals("black");
        sides = isBlackFirst ? List.of("black", "red") : List.of("red", "black");
        if (!position.get("colours").isNull()) {
            sides = position.get("colours").list().stream().map(Json::text).toList();
        }
        List<? extends Collection<Cell>> stones =
                placed("stones", List.of(List.of(), List.of())); // Black's, then red's.
        place(sides.get(0).equals("black") ? stones : List.of(stones.get(1), stones.get(0)));
        winner = joins(0) ? 0 : joins(1) ? 1 : NOBODY;
    }

    @Override
    String colour(int seat) {
        return sides.get(seat);
    }

    /** The two lists of cells that a seat has to connect. */
    List<List<Cell>> borders(int seat) {
        boolean isBlack = colour(seat).equals("black");
        return IntStream.of(0, size - 1).mapToObj(end -> IntStream.range(0, size)
                .mapToObj(n -> isBlack ? new Cell(n, end) : new Cell(end, n)).toList()).toList();
    }

    private boolean joins(int seat) {
        Predicate<Cell> isOwn = cell -> owner(cell) == seat;
        List<Cell> chain = new ArrayList<>(borders(seat).get(0).stream().filter(isOwn).toList());
        Set<Cell> seen = new HashSet<>(chain);
        for (int next = 0; next < chain.size(); next++) {
            neighbours(chain.get(next)).stream().filter(isOwn).filter(seen::add)
                    .forEach(chain::add);
        }
        return borders(seat).get(1).stream().anyMatch(seen::contains);
    }

    @Override
    protected List<Action> legalActions() {
        List<Action> actions = new ArrayList<>();
        for (Cell cell : cells) {
            if (!has(cell)) {
                actions.add(new Action("place", null, cell));
            }
        }
        if (turn == 1 && !setup.text("swap", "none").equals("none")) {
            actions.add(new Action("swap"));
        }
        return actions;
    }

    @Override
    protected void apply(Action action) {
        if (action.type().equals("place")) {
            pieces.put(action.to(), toMove);
            winner = joins(toMove) ? toMove : NOBODY;
            return;
        }
        boolean isSides = setup.get("swap").text().equals("sides");
        Cell stone = pieces.firstKey();
        pieces.clear();
        pieces.put(isSides ? stone : new Cell(stone.column(), stone.row()), toMove);
        if (isSides) {
            sides = List.of(sides.get(1), sides.get(0));
        }
    }

    @Override
    Ending ending() {
        return winner == NOBODY ? null : new Ending(winner, "connected");
    }
}
