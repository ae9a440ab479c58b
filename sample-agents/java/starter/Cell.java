import java.util.List;

/**
 * A cell: row and column, or in Chexers q and r. In Chinese Checkers cells have numbers.
 */
record Cell(int a, int b) implements Comparable<Cell> {
    private static final int NO_SECOND = Integer.MIN_VALUE;

    /** A cell of Chinese Checkers. */
    Cell(int number) {
        this(number, NO_SECOND);
    }

    static Cell of(Json json) {
        return json.value() instanceof Number ? new Cell(json.integer())
                : new Cell(json.get(0).integer(), json.get(1).integer());
    }

    static List<Cell> listOf(Json json) {
        return json.list().stream().map(Cell::of).toList();
    }

    int row() {
        return a;
    }

    int column() {
        return b;
    }

    int q() {
        return a;
    }

    int r() {
        return b;
    }

    int number() {
        return a;
    }

    boolean isNumber() {
        return b == NO_SECOND;
    }

    @Override
    public int compareTo(Cell other) {
        return a != other.a ? Integer.compare(a, other.a) : Integer.compare(b, other.b);
    }

    @Override
    public String toString() {
        return Json.of(this).toString();
    }
}
