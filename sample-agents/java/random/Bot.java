import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;

/** Plays any game: picks one of the legal actions that the referee lists. */
public final class Bot {
    private static final PrintStream OUT =
            new PrintStream(System.out, false, StandardCharsets.UTF_8);

    private final Json hello;
    private final Random random;

    private Bot(Json hello) {
        this.hello = hello;
        this.random = new Random(hello.get("seed").number().longValue());
    }

    /**
     * Your rule goes here. {@code hello} says which game this is and which seat is yours; the
     * turn's {@code position} is the board, and its {@code actions} are all that is legal now:
     * return one of them.
     */
    private Json choose(Json turn) {
        List<Json> actions = turn.get("actions").list();
        return actions.get(random.nextInt(actions.size()));
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Bot bot = null;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.isBlank()) {
                continue;
            }
            Json message = Json.read(line);
            switch (message.get("type").text()) {
                case "hello" -> {
                    bot = new Bot(message);
                    say("{\"type\":\"ready\",\"name\":\"random (Java)\","
                            + "\"want\":[\"position\",\"actions\"]}");
                }
                case "turn" -> say("{\"type\":\"action\",\"turn\":" + message.get("turn")
                        + ",\"action\":" + bot.choose(message) + "}");
                case "over" -> {
                    return;
                }
                // `played` and `retired` report what the others did, for a rule that keeps a board.
                default -> { }
            }
        }
    }

    /** One message, one line, flushed. Nothing else may go to stdout: debug with System.err. */
    private static void say(String message) {
        OUT.print(message + "\n");
        OUT.flush();
    }
}
