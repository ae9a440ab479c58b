import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** A game in progress, with its rules. {@link #start} starts one without a referee, to explore. */
abstract class Game implements Cloneable {
    /** The winner if there is none. */
    static final int NOBODY = -1;

    record Seat(int seat, String name, String colour) { }

    /** How a game has ended. */
    record Ending(int winner, String reason) { }

    /** Your seat, from 0. */
    int seat;
    /** Everyone's. */
    List<Seat> seats = new ArrayList<>();
    /** The number of the turn, and the seat whose turn it is. */
    int turn, toMove;
    /** The seat of the piece on each cell that has one, in every game. */
    SortedMap<Cell, Integer> pieces = new TreeMap<>();
    /** The retired seats; their pieces stay on the board. */
    SortedSet<Integer> retired = new TreeSet<>();
    /** As in the referee's {@code hello}. */
    Json setup, clock = Json.of(null);
    /** The referee's {@code turn} as it came. */
    Json message = Json.of(null);
    /** Milliseconds left, for this turn and all to come, or null. */
    Long leftMs;
    /** Every cell of the board, in order. */
    final List<Cell> cells;
    /** The cells in each direction from a cell, to the rim. */
    final Map<Cell, List<List<Cell>>> lines;
    /** The position in the setup; null if there is none. */
    final Json position;
    protected final Board board;
    protected int turnsMax = Integer.MAX_VALUE;

    /** Starts a game such as "hex"; what the setup leaves out is as usual. */
    static Game start(String name, Json setup) {
        return switch (name) {
            case "hex" -> new Hex(setup);
            case "chexers" -> new Chexers(setup);
            case "freckers" -> new Freckers(setup);
            case "chinese-checkers" -> new ChineseCheckers(setup);
            case "checker-puzzle" -> new CheckerPuzzle(setup);
            case "peg-solitaire" -> new PegSolitaire(setup);
            default -> throw new IllegalArgumentException("the kit doesn't know the game " + name);
        };
    }

    Game(Json setup, Board board, String... colours) {
        this.setup = setup;
        this.board = board;
        this.cells = board.cells();
        this.lines = board.lines();
        this.position = setup.get("position");
        for (String colour : colours) {
            seats.add(new Seat(seats.size(), colour, colour));
        }
        turn = position.integer("turn", position.integer("moves", 0));
        toMove = position.integer("to_move", 0);
        position.items("retired").forEach(seat -> retired.add(seat.integer()));
    }

    /** How the game has ended; null before. */
    abstract Ending ending();

    /** The legal actions of a game that isn't over. */
    protected abstract List<Action> legalActions();

    protected abstract void apply(Action action);

    /** Every legal action, in the order of the rules; none when the game is over. */
    List<Action> actions() {
        return isOver() ? List.of() : legalActions();
    }

    /** A copy of the game with one of its actions played. */
    Game after(Action action) {
        Game copy = copy();
        copy.play(action);
        return copy;
    }

    /** Plays one of the actions in this object itself. */
    void play(Action action) {
        apply(action);
        endTurn();
    }

    /** An independent copy of the game. */
    Game copy() {
        try {
            Game copy = (Game) clone();
            copy.pieces = new TreeMap<>(pieces);
            copy.retired = new TreeSet<>(retired);
            return copy;
        } catch (CloneNotSupportedException error) {
            throw new AssertionError(error);
        }
    }

    /** Whether the game has ended by its rules. */
    boolean isOver() {
        return ending() != null;
    }

    /** The seat that has won, or NOBODY. Solving a puzzle is a win. */
    int winner() {
        Ending ending = ending();
        return ending == null ? NOBODY : ending.winner();
    }

    /** The seat whose piece is on a cell, or NOBODY. */
    int owner(Cell cell) {
        return pieces.getOrDefault(cell, NOBODY);
    }

    /** The cells of a seat's pieces, in order. */
    List<Cell> piecesOf(int seat) {
        return pieces.keySet().stream().filter(cell -> pieces.get(cell) == seat).toList();
    }

    /** The colour of a seat. */
    String colour(int seat) {
        return seats.get(seat).colour();
    }

    /** The cells beside this one, in order. */
    List<Cell> neighbours(Cell cell) {
        return lines.get(cell).stream().filter(line -> !line.isEmpty())
                .map(line -> line.get(0)).toList();
    }

    /** Retires a seat. */
    void retire(int seat) {
        retired.add(seat);
        if (seat == toMove) {
            endTurn();
        }
    }

    /** Ends a turn. Turns of retired seats are skipped, but counted. */
    protected void endTurn() {
        do {
            turn++;
            toMove = (toMove + 1) % seats.size();
        } while (retired.contains(toMove) && turn < turnsMax);
    }

    protected boolean has(Cell cell) {
        return pieces.containsKey(cell);
    }

    /** Places the pieces of each seat. */
    protected void place(List<? extends Collection<Cell>> lists) {
        pieces.clear();
        for (int seat = 0; seat < lists.size(); seat++) {
            for (Cell cell : lists.get(seat)) {
                pieces.put(cell, seat);
            }
        }
    }

    /** The pieces of each seat in the position, or the usual ones. */
    protected List<? extends Collection<Cell>> placed(
            String name, List<? extends Collection<Cell>> usual) {
        Json lists = position.get(name);
        return lists.isNull() ? usual : lists.list().stream().map(Cell::listOf).toList();
    }

    /** Where a jump over a neighbour can lead, and over what. */
    protected Map<Cell, Cell> jumps(Cell cell) {
        Map<Cell, Cell> ways = new LinkedHashMap<>();
        for (List<Cell> line : lines.get(cell)) {
            if (line.size() > 1 && has(line.get(0)) && !has(line.get(1))) {
                ways.put(line.get(1), line.get(0));
            }
        }
        return ways;
    }

    /**
     * The moves of the seat's pieces by a step or by jumps, each to an end once: by a shortest
     * path, and of those by the first in order.
     */
    protected List<Action> moves(
            boolean isLong, Collection<Cell> noLanding, Collection<Cell> noEnd) {
        List<Action> moves = new ArrayList<>();
        for (Cell start : piecesOf(toMove)) {
            SortedMap<Cell, List<Cell>> paths = new TreeMap<>(Map.of(start, List.of(start)));
            List<Cell> queue = new ArrayList<>(List.of(start));
            pieces.remove(start); // The piece doesn't stand in its own way.
            for (int next = 0; next < queue.size(); next++) { // Nearer landings come first.
                List<Cell> path = paths.get(queue.get(next));
                for (Cell landing : landings(queue.get(next), isLong)) {
                    if (!paths.containsKey(landing) && !noLanding.contains(landing)) {
                        List<Cell> longer = new ArrayList<>(path);
                        longer.add(landing);
                        paths.put(landing, longer);
                        queue.add(landing);
                    }
                }
            }
            pieces.put(start, toMove);
            neighbours(start).stream().filter(cell -> !has(cell))
                    .forEach(cell -> paths.put(cell, List.of(start, cell)));
            paths.forEach((end, path) -> {
                if (!end.equals(start) && !noEnd.contains(end)) {
                    moves.add(Action.move(path));
                }
            });
        }
        return moves;
    }

    /** Where jumps over the first piece in sight lead: as far behind it as it is away. */
    private SortedSet<Cell> landings(Cell from, boolean isLong) {
        SortedSet<Cell> landings = new TreeSet<>();
        for (List<Cell> line : lines.get(from)) {
            int reach = isLong ? line.size() / 2 : Math.min(line.size() / 2, 1);
            for (int away = 0; away < reach; away++) {
                if (has(line.get(away))) {
                    if (line.subList(away + 1, 2 * away + 2).stream().noneMatch(this::has)) {
                        landings.add(line.get(2 * away + 1));
                    }
                    break;
                }
            }
        }
        return landings;
    }
}
