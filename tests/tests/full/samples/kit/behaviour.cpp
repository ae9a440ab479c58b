// A bot on the C++ kit that makes a mistake of students' bots; see agents/kits.rs.
#include "referee_kit.hpp"

using namespace referee;

int main(int, char **arguments) {
    const std::string mode = arguments[1];
    auto choose = [&](const Game &game) -> std::optional<Action> {
        std::vector<Action> actions = game.actions();
        bool is_second_turn = game.turn >= static_cast<int>(game.seats.size());
        info(json::object({{"score", -HUGE_VAL}, {"text", "n\u00e4her"}}), {{Cell{0, 0}, "0.5"}});
        if (mode == "noisy") std::cout << "a stray print\n";
        if (mode == "fails" && is_second_turn) return actions.at(actions.size());
        if (mode == "resigns" && is_second_turn) return std::nullopt;
        return actions[0];
    };
    return run(choose, "behaviour");
}
