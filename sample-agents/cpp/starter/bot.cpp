// A bot for Referee: wins if it can, else plays any legal action. Change `choose` to make it yours.
#include "referee_kit.hpp"

using namespace referee;

// Returns an action when it is your turn, or std::nullopt to resign.
std::optional<Action> choose(const Game &game) {
    // >>> Your idea goes here. Some of what the kit offers (see game.hpp and games.hpp):
    //
    //   game.actions()            every legal action
    //   game.after(action)        a copy of the game with the action played
    //   game.is_over()            and game.winner(): the seat that has won, or nobody
    //   game.seat, game.seats     your seat, and everyone's name and colour
    //   game.turn, game.left_ms   the number of the turn, your milliseconds left
    //   game.pieces               the seat of the piece on each cell; game.pieces_of(game.seat)
    //   game.neighbours(cell)     the cells beside it
    //
    // What only one game has: if (auto *hex = dynamic_cast<const Hex *>(&game)) hex->borders(..)
    std::vector<Action> actions = game.actions();
    for (const Action &action : actions)
        if (game.after(action)->winner() == game.seat) return action;
    return choice(actions);
}

int main() { return run(choose, "bot"); }
