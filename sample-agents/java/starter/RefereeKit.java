import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;

/** The protocol: {@link #run} plays a match. The rules are in Game.java and one file per game. */
final class RefereeKit {
    /** Returns an action when it is the bot's turn, or null to resign. */
    interface Chooser {
        Action choose(Game game) throws Exception;
    }

    /** Random numbers that repeat when the match is played again with the same seed. */
    static final Random random = new Random();

    private static PrintStream out;
    private static boolean isAsked;

    private RefereeKit() { }

    /** Plays a match. want: which of "position" and "actions" to include in game.message. */
    static void run(Chooser bot, String name, String... want) {
        // All other output goes to stderr, and nothing else can read what the referee sends.
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        System.setIn(InputStream.nullInputStream());
        String line = "";
        try {
            Game game = null;
            Json ready = Json.object("type", "ready", "name", name, "want", List.of(want));
            while (line != null) {
                Json message = line.isBlank() ? Json.of(null) : Json.read(line);
                if (message.get("type").equals(Json.of("over"))) {
                    return;
                }
                game = receive(message, game, bot, ready);
                line = lines.readLine();
            }
        } catch (Throwable error) {
            System.err.println("the bot failed; its last message: " + line);
            error.printStackTrace();
            System.exit(1);
        }
    }

    /** One of these, at random. */
    static <T> T choice(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    /** Prints to stderr, which the transcript keeps with the turn. */
    static void log(Object... values) {
        System.err.println(
                Arrays.stream(values).map(String::valueOf).collect(Collectors.joining(" ")));
    }

    /**
     * Shows viewers what you think; call it in {@code choose}. Usual fields are "score", "depth",
     * "text" and "cells", which marks cells: {@code info(Map.of("cells", Map.of(cell, "good")))}.
     */
    static void info(Map<String, ?> fields) {
        Map<String, Object> message = new LinkedHashMap<>(fields);
        message.put("type", "info");
        if (fields.get("score") instanceof Number score && !Double.isFinite(score.doubleValue())) {
            message.put("score", score.toString()); // JSON has no infinity.
        }
        if (fields.get("cells") instanceof Map<?, ?> cells) {
            List<Object> marks = new ArrayList<>();
            cells.forEach((at, label) ->
                    marks.add(Json.object("at", at, "label", String.valueOf(label))));
            message.put("cells", marks);
        }
        if (isAsked) {
            say(message);
        }
    }

    private static Game receive(Json message, Game game, Chooser bot, Json ready)
            throws Exception {
        Json type = message.get("type");
        switch (type.isNull() ? "" : type.text()) {
            case "hello" -> {
                random.setSeed(message.get("seed").number().longValue());
                game = begin(message);
                say(ready);
            }
            case "turn" -> answer(message, game, bot);
            case "played" -> game.play(Action.of(message.get("action")));
            case "retired" -> {
                if (game.seats.size() > 2) {
                    game.retire(message.get("seat").integer());
                }
            }
            default -> { }
        }
        return game;
    }

    private static Game begin(Json hello) {
        Game game = Game.start(hello.get("game").text(), hello.get("setup"));
        game.seat = hello.get("seat").integer();
        game.clock = hello.get("clock");
        game.seats = hello.get("seats").list().stream().map(seat -> new Game.Seat(
                seat.get("seat").integer(), seat.get("name").text(), seat.get("colour").text()))
                .toList();
        return game;
    }

    private static void answer(Json message, Game game, Chooser bot) throws Exception {
        Game asked = game.copy();
        asked.message = message;
        Json left = message.get("left_ms");
        asked.leftMs = left.isNull() ? null : left.number().longValue();
        isAsked = true;
        Action action = bot.choose(asked);
        isAsked = false;
        Json turn = message.get("turn");
        say(action == null ? Json.object("type", "resign", "turn", turn)
                : Json.object("type", "action", "turn", turn, "action", action.json()));
    }

    /** One message, one line, flushed: the referee doesn't see a line that is still in a buffer. */
    private static void say(Object message) {
        out.print(Json.of(message) + "\n");
        out.flush();
    }
}
