import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The cells of a board in order, the lines from each to the rim, and its place on the grid. */
record Board(List<Cell> cells, Map<Cell, List<List<Cell>>> lines, Map<Cell, Cell> places) {
    private static final int[][] OPPOSED = {{-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}};
    private static final int[][] ALIGNED = {{-1, -1}, {-1, 0}, {0, -1}, {0, 1}, {1, 0}, {1, 1}};
    private static final int[][] ALL =
            {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {1, 1}};
    private static final Map<String, Board> KNOWN = new HashMap<>();

    static Board of(String shape, int size) {
        return KNOWN.computeIfAbsent(shape + size, key -> create(shape, size));
    }

    private static boolean has(String shape, int n, int a, int b) {
        return switch (shape) {
            case "triangle" -> 0 <= b && b <= a && a < n;
            case "hexagon" -> Math.max(Math.abs(a), Math.max(Math.abs(b), Math.abs(a + b))) <= n;
            case "star" -> Math.max(a, Math.max(b, -a - b)) <= n
                    || Math.min(a, Math.min(b, -a - b)) >= -n;
            default -> 0 <= Math.min(a, b) && Math.max(a, b) < n;
        };
    }

    private static Board create(String shape, int size) {
        Map<Cell, Cell> names = new LinkedHashMap<>(); // By place; the star's are numbers.
        Map<Cell, Cell> places = new LinkedHashMap<>();
        for (int a = -2 * size; a <= 2 * size; a++) {
            for (int b = -2 * size; b <= 2 * size; b++) {
                if (has(shape, size, a, b)) {
                    Cell place = new Cell(a, b);
                    Cell name = shape.equals("star") ? new Cell(names.size() + 1) : place;
                    names.put(place, name);
                    places.put(name, place);
                }
            }
        }
        int[][] steps = shape.equals("square") ? ALL : shape.equals("triangle") ? ALIGNED : OPPOSED;
        Map<Cell, List<List<Cell>>> lines = new HashMap<>();
        names.forEach((place, name) -> lines.put(name, Arrays.stream(steps).map(step -> {
            List<Cell> line = new ArrayList<>();
            int a = place.a() + step[0];
            int b = place.b() + step[1];
            for (; names.containsKey(new Cell(a, b)); a += step[0], b += step[1]) {
                line.add(names.get(new Cell(a, b)));
            }
            return line;
        }).toList()));
        return new Board(List.copyOf(names.values()), lines, places);
    }
}
