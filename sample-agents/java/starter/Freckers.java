import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

final class Freckers extends Game {
    /** The row that each seat's frogs go to. */
    static final List<Integer> GOALS = List.of(7, 0);
    private static final List<String> NAMES = List.of("RIGHT", "LEFT", "DOWN", "DOWN_LEFT",
            "DOWN_RIGHT", "UP", "UP_LEFT", "UP_RIGHT");
    private static final int[][] STEPS =
            {{0, 1}, {0, -1}, {1, 0}, {1, -1}, {1, 1}, {-1, 0}, {-1, -1}, {-1, 1}};
    /** The free lily pads. */
    SortedSet<Cell> pads = new TreeSet<>();

    Freckers(Json setup) {
        super(setup, Board.of("square", 8), "red", "blue");
        place(placed("frogs", List.of(row(0), row(7))));
        pads.addAll(List.of(new Cell(0, 0), new Cell(0, 7), new Cell(7, 0), new Cell(7, 7)));
        pads.addAll(row(1));
        pads.addAll(row(6));
        if (!position.get("pads").isNull()) {
            pads = new TreeSet<>(Cell.listOf(position.get("pads")));
        }
    }

    private static List<Cell> row(int row) {
        return IntStream.range(1, 7).mapToObj(column -> new Cell(row, column)).toList();
    }

    @Override
    Game copy() {
        Freckers copy = (Freckers) super.copy();
        copy.pads = new TreeSet<>(pads);
        return copy;
    }

    /** The shortest directions to every cell where a frog's move can end. */
    private SortedMap<Cell, List<String>> routes(Cell start) {
        int[] ways = IntStream.range(0, STEPS.length)
                .filter(way -> STEPS[way][0] == 0 || STEPS[way][0] == 1 - 2 * toMove).toArray();
        boolean isEvery = setup.text("landing", "last").equals("every");
        SortedMap<Cell, List<String>> routes = new TreeMap<>(Map.of(start, List.of()));
        List<Cell> queue = new ArrayList<>(List.of(start));
        for (int next = 0; next < queue.size(); next++) { // Nearer landings come first.
            Cell from = queue.get(next);
            for (int way : ways) {
                Cell to = ahead(from, way, 2);
                if (has(ahead(from, way, 1)) && lines.containsKey(to) && !has(to)
                        && !routes.containsKey(to) && (pads.contains(to) || !isEvery)) {
                    List<String> longer = new ArrayList<>(routes.get(from));
                    longer.add(NAMES.get(way));
                    routes.put(to, longer);
                    queue.add(to);
                }
            }
        }
        for (int way : ways) {
            routes.put(ahead(start, way, 1), List.of(NAMES.get(way)));
        }
        routes.keySet().retainAll(pads);
        return routes;
    }

    private static Cell ahead(Cell from, int way, int far) {
        return new Cell(from.row() + far * STEPS[way][0], from.column() + far * STEPS[way][1]);
    }

    @Override
    protected List<Action> legalActions() {
        List<Action> actions = new ArrayList<>();
        for (Cell start : piecesOf(toMove)) {
            routes(start).forEach((end, directions) ->
                    actions.add(new Action("move", start, end, null, directions)));
        }
        actions.add(new Action("grow"));
        return actions;
    }

    @Override
    protected void apply(Action action) {
        if (action.type().equals("move")) {
            pieces.remove(action.from());
            pieces.put(action.to(), toMove);
            pads.remove(action.to());
        } else {
            piecesOf(toMove).forEach(frog -> pads.addAll(neighbours(frog)));
            pads.removeAll(pieces.keySet());
        }
    }

    /** The number of a seat's frogs that are across. */
    int across(int seat) {
        return (int) piecesOf(seat).stream().filter(cell -> cell.row() == GOALS.get(seat)).count();
    }

    @Override
    Ending ending() {
        int red = across(0);
        int blue = across(1);
        int ahead = red == blue ? NOBODY : blue > red ? 1 : 0;
        if (red == 6 || blue == 6) {
            return new Ending(ahead, "all_across");
        }
        return turn >= setup.integer("turn_limit", 150) ? new Ending(ahead, "turn_limit") : null;
    }
}
