import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

final class ChineseCheckers extends Game {
    private static final String[] COLOURS = {"red", "yellow", "green", "blue", "purple", "orange"};
    /** For each seat a set of cells. */
    final List<Set<Cell>> starts, targets, neutral;
    /** The passes in a row. */
    int passes;

    ChineseCheckers(Json setup) {
        super(setup, Board.of("star", setup.integer("size", 4)),
                Arrays.copyOf(COLOURS, setup.integer("seats", 2)));
        int size = setup.integer("size", 4);
        List<Set<Cell>> points = IntStream.range(0, 6).mapToObj(point -> cells.stream()
                .filter(cell -> towards(board.places().get(cell))[point] > size)
                .collect(Collectors.toSet())).toList();
        List<Integer> used = switch (seats.size()) {
            case 2 -> List.of(0, 3);
            case 3 -> List.of(0, 2, 4);
            case 4 -> List.of(1, 2, 4, 5);
            default -> List.of(0, 1, 2, 3, 4, 5);
        };
        starts = used.stream().map(points::get).toList();
        targets = used.stream().map(point -> points.get((point + 3) % 6)).toList();
        neutral = used.stream().map(point -> points.stream()
                .filter(other -> points.indexOf(other) % 3 != point % 3)
                .flatMap(Set::stream).collect(Collectors.toSet())).toList();
        place(placed("marbles", starts));
        passes = position.integer("passes", 0);
        turnsMax = setup.integer("max_turns", 1000);
    }

    /** How far a place is towards each point of the star, clockwise from the top. */
    private static int[] towards(Cell place) {
        int a = place.a();
        int b = place.b();
        return new int[] {-a, b, a + b, a, -b, -a - b};
    }

    @Override
    protected List<Action> legalActions() {
        String rule = setup.text("neutral", "pass");
        Set<Cell> noLanding = rule.equals("closed") ? neutral.get(toMove) : Set.of();
        Set<Cell> noEnd = rule.equals("free") ? Set.of() : neutral.get(toMove);
        boolean isLong = setup.text("jumps", "long").equals("long");
        List<Action> moves = moves(isLong, noLanding, noEnd);
        return moves.isEmpty() ? List.of(new Action("pass")) : moves;
    }

    @Override
    protected void apply(Action action) {
        passes++;
        if (action.type().equals("move")) {
            pieces.remove(action.from());
            pieces.put(action.to(), toMove);
            passes = 0;
        }
    }

    /** The active seats, in the order of play from the one to move. */
    private List<Integer> left() {
        return IntStream.range(0, seats.size()).map(n -> (toMove + n) % seats.size())
                .filter(seat -> !retired.contains(seat)).boxed()
                .collect(Collectors.toCollection(ArrayList::new));
    }

    @Override
    void retire(int seat) {
        // A pass of a seat that is out no longer counts among those in a row.
        List<Integer> before = left();
        Collections.reverse(before);
        before.remove((Integer) toMove);
        passes -= before.subList(0, Math.min(passes, before.size())).contains(seat) ? 1 : 0;
        super.retire(seat);
    }

    /** Whether a seat has brought its marbles home. */
    boolean isHome(int seat) {
        List<Cell> own = piecesOf(seat);
        Set<Cell> target = targets.get(seat);
        if (retired.contains(seat) || Collections.disjoint(own, target)) {
            return false;
        }
        if (setup.text("win", "own").equals("filled")) {
            return pieces.keySet().containsAll(target);
        }
        return target.containsAll(own) || target.stream().allMatch(cell ->
                owner(cell) == seat || retired.contains(owner(cell)));
    }

    @Override
    Ending ending() {
        List<Integer> left = left();
        Collections.rotate(left, 1); // The last mover is checked first.
        for (int seat : left) {
            if (isHome(seat)) {
                return new Ending(seat, "home");
            }
        }
        if (passes >= left.size()) {
            return new Ending(NOBODY, "no_moves");
        }
        return turn >= turnsMax ? new Ending(NOBODY, "turn_limit") : null;
    }

    /** The number of steps between two cells of an empty board. */
    int distance(Cell cell, Cell other) {
        Cell from = board.places().get(cell);
        Cell to = board.places().get(other);
        int a = from.a() - to.a();
        int b = from.b() - to.b();
        return Math.max(Math.abs(a + b), Math.max(Math.abs(a), Math.abs(b)));
    }
}
