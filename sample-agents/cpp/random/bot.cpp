// Plays any game: picks one of the legal actions that the referee lists.
#include "json.hpp"

#include <cstdint>
#include <iostream>
#include <optional>
#include <random>
#include <string>

class Bot {
public:
    explicit Bot(json::Value hello)
        : hello_(std::move(hello)),
          random_(static_cast<std::uint64_t>(hello_["seed"].number())) {}

    // Your rule goes here. hello_ says which game this is and which seat is yours; the turn's
    // "position" is the board, and its "actions" are all that is legal now: return one of them.
    json::Value choose(const json::Value &turn) {
        const json::Value &actions = turn["actions"];
        return actions[random_() % actions.items.size()];
    }

private:
    json::Value hello_;
    std::mt19937_64 random_;
};

// Messages are lines, each flushed by std::endl: what is still in a buffer is not sent. Nothing else
// may go to std::cout: debug with std::cerr.
int main() {
    std::optional<Bot> bot;
    for (std::string line; std::getline(std::cin, line);) {
        if (line.find_first_not_of(" \r") == line.npos) continue;
        json::Value message = json::read(line);
        const std::string &type = message["type"].text;
        if (type == "hello") {
            bot.emplace(message);
            std::cout << R"-({"type":"ready","name":"random (C++)","want":["position","actions"]})-"
                      << std::endl;
        } else if (type == "turn") {
            std::cout << R"({"type":"action","turn":)" << message["turn"]
                      << R"(,"action":)" << bot->choose(message) << '}' << std::endl;
        } else if (type == "over") {
            break;
        }
        // "played" and "retired" report what the others did, for a rule that keeps a board.
    }
}
