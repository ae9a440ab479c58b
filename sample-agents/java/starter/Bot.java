import java.util.List;

/** A bot for Referee: wins if it can, else plays any legal action. Change {@code choose}. */
public final class Bot {
    /** Returns an action when it is your turn, or null to resign. */
    static Action choose(Game game) {
        // >>> Your idea goes here. Some of what the kit offers (see Game.java):
        //
        //   game.actions()            every legal action
        //   game.after(action)        a copy of the game with the action played
        //   game.isOver()             and game.winner(): the seat that has won, or Game.NOBODY
        //   game.seat, game.seats     your seat, and everyone's name and colour
        //   game.turn, game.leftMs    the number of the turn, your milliseconds left
        //   game.pieces               the seat of the piece on each cell; game.piecesOf(game.seat)
        //   game.neighbours(cell)     the cells beside it
        //
        // What only one game has: if (game instanceof Hex hex) { hex.borders(game.seat) .. }
        List<Action> actions = game.actions();
        for (Action action : actions) {
            if (game.after(action).winner() == game.seat) {
                return action;
            }
        }
        return RefereeKit.choice(actions);
    }

    public static void main(String[] arguments) {
        RefereeKit.run(Bot::choose, "bot");
    }
}
