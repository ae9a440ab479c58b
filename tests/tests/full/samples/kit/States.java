import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Plays the events on stdin with the Java kit and prints the states; see agents/kits.rs. */
final class States {
    private static List<List<Cell>> lists(Game game) {
        return IntStream.range(0, game.seats.size()).mapToObj(game::piecesOf).toList();
    }

    /** Returns the position in the protocol's form, made from the kit's public fields. */
    private static Map<String, Object> position(Game game) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put(game.seats.size() == 1 ? "moves" : "turn", game.turn);
        if (game instanceof CheckerPuzzle) {
            fields.put("size", game.setup.get("size"));
            fields.put("depth", game.setup.get("depth"));
            fields.put("pieces", game.piecesOf(0));
            return fields;
        }
        if (game instanceof PegSolitaire pegs) {
            fields.put("shape", game.setup.get("shape"));
            fields.put("size", game.setup.get("size"));
            fields.put("pegs", game.piecesOf(0));
            fields.put("open", pegs.open);
            return fields;
        }
        fields.put("to_move", game.toMove);
        if (game instanceof Hex hex) {
            List<String> colours = List.of(game.colour(0), game.colour(1));
            fields.put("size", hex.size);
            fields.put("colours", colours);
            fields.put("stones", List.of(game.piecesOf(colours.indexOf("black")),
                    game.piecesOf(colours.indexOf("red"))));
        } else if (game instanceof Freckers freckers) {
            fields.put("frogs", lists(game));
            fields.put("pads", freckers.pads);
        } else if (game instanceof Chexers chexers) {
            fields.put("pieces", lists(game));
            fields.put("exits", scores(chexers));
        } else if (game instanceof ChineseCheckers star) {
            fields.put("marbles", lists(game));
            fields.put("passes", star.passes);
        }
        if (game.seats.size() > 2) {
            fields.put("retired", game.retired);
        }
        return fields;
    }

    private static Collection<Integer> scores(Game game) {
        if (game instanceof Chexers chexers) {
            return IntStream.of(chexers.exits).boxed().toList();
        }
        if (game instanceof Freckers freckers) {
            return List.of(freckers.across(0), freckers.across(1));
        }
        return game instanceof CheckerPuzzle ? List.of(game.turn)
                : game instanceof PegSolitaire ? List.of(game.pieces.size()) : null;
    }

    /** Returns how the game ended, in the protocol's form. */
    private static Json outcome(Game game) {
        if (!game.isOver()) {
            return null;
        }
        int winner = game.winner();
        List<Integer> places = IntStream.range(0, game.seats.size()).mapToObj(seat ->
                winner == seat || winner == Game.NOBODY && game.seats.size() > 1 ? 1 : 2).toList();
        return Json.object(
                "places", places, "reason", game.ending().reason(), "scores", scores(game));
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Game game = null;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Json event = Json.read(line);
            Game shown = event.get("state").isNull() ? null : game;
            if (!event.get("game").isNull()) {
                game = Game.start(event.get("game").text(), event.get("setup"));
            } else if (!event.get("played").isNull()) {
                game.play(Action.of(event.get("played")));
            } else if (!event.get("retired").isNull()) {
                game.retire(event.get("retired").integer());
            } else if (!event.get("tried").isNull()) {
                shown = game.after(Action.of(event.get("tried")));
            }
            if (shown != null) {
                System.out.println(Json.object("position", position(shown), "actions",
                        shown.actions().stream().map(Action::json).toList(),
                        "outcome", outcome(shown)));
            }
        }
    }
}
