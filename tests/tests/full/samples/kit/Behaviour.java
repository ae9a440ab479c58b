import java.util.List;
import java.util.Map;

/** A bot on the Java kit that makes a mistake of students' bots; see agents/kits.rs. */
final class Behaviour {
    private static Action choose(String mode, Game game) {
        List<Action> actions = game.actions();
        boolean isSecondTurn = game.turn >= game.seats.size();
        RefereeKit.info(Map.of("score", Double.NEGATIVE_INFINITY, "text", "n\u00e4her",
                "cells", Map.of(new Cell(0, 0), 0.5)));
        if (mode.equals("noisy")) {
            System.out.println("a stray print");
        }
        if (mode.equals("fails") && isSecondTurn) {
            return actions.get(actions.size()); // here
        }
        return mode.equals("resigns") && isSecondTurn ? null : actions.get(0);
    }

    public static void main(String[] arguments) {
        RefereeKit.run(game -> choose(arguments[0], game), "behaviour");
    }
}
