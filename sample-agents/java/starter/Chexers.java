import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

final class Chexers extends Game {
    /** The number of each seat's exits. */
    int[] exits = new int[3];
    /** Where each seat may leave the board. */
    final List<List<Cell>> exitCells;
    /** How often each position has occurred since the last exit. */
    private Map<Object, Integer> seen = new HashMap<>();

    Chexers(Json setup) {
        super(setup, Board.of("hexagon", 3), "red", "green", "blue");
        List<List<Cell>> edges = IntStream.range(0, 6).mapToObj(edge -> cells.stream()
                .filter(cell -> sides(cell)[edge] == 3).toList()).toList();
        exitCells = edges.subList(3, 6);
        place(placed("pieces", edges.subList(0, 3)));
        List<Json> counts = position.items("exits");
        IntStream.range(0, counts.size()).forEach(seat -> exits[seat] = counts.get(seat).integer());
        turnsMax = 3 * setup.integer("turns_per_seat", 256);
        seen.put(key(), 1);
    }

    /** How far a cell is towards each edge: the starts of red, green and blue, then the exits. */
    private static int[] sides(Cell cell) {
        int q = cell.q();
        int r = cell.r();
        return new int[] {-q, -r, q + r, q, r, -q - r};
    }

    @Override
    Game copy() {
        Chexers copy = (Chexers) super.copy();
        copy.exits = exits.clone();
        copy.seen = new HashMap<>(seen);
        return copy;
    }

    @Override
    protected List<Action> legalActions() {
        List<Cell> own = piecesOf(toMove);
        List<Action> actions = new ArrayList<>();
        own.stream().filter(exitCells.get(toMove)::contains)
                .forEach(cell -> actions.add(new Action("exit", cell, null)));
        for (Cell cell : own) {
            neighbours(cell).stream().filter(to -> !has(to))
                    .forEach(to -> actions.add(new Action("move", cell, to)));
        }
        for (Cell cell : own) {
            jumps(cell).keySet().forEach(to -> actions.add(new Action("jump", cell, to)));
        }
        return actions.isEmpty() ? List.of(new Action("pass")) : actions;
    }

    @Override
    protected void apply(Action action) {
        if (action.type().equals("jump")) {
            pieces.put(jumps(action.from()).get(action.to()), toMove);
        }
        if (action.type().equals("exit")) {
            exits[toMove]++;
            seen.clear(); // Positions before an exit can't recur.
        }
        if (action.from() != null) {
            pieces.remove(action.from());
        }
        if (action.to() != null) {
            pieces.put(action.to(), toMove);
        }
    }

    @Override
    protected void endTurn() {
        super.endTurn();
        seen.merge(key(), 1, Integer::sum);
    }

    private Object key() {
        return List.of(toMove, Map.copyOf(pieces));
    }

    @Override
    Ending ending() {
        for (int seat = 0; seat < 3; seat++) {
            if (exits[seat] >= setup.integer("exits", 4)) {
                return new Ending(seat, "four_exits");
            }
        }
        if (seen.get(key()) >= setup.integer("repetitions", 4)) {
            return new Ending(NOBODY, "repetition");
        }
        return turn >= turnsMax ? new Ending(NOBODY, "turn_limit") : null;
    }
}
