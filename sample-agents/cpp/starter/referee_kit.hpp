// The protocol: run() plays a match. The rules are in game.hpp and games.hpp.
#pragma once

#include "games.hpp"

#include <cstdio>
#include <fcntl.h>
#include <functional>
#include <iostream>
#include <random>
#include <unistd.h>

namespace referee {

using Chooser = std::function<std::optional<Action>(const Game &)>;

// Random numbers that repeat when the match is played again with the same seed.
inline std::mt19937_64 rng;

// One of these, at random.
template <class T> const T &choice(const std::vector<T> &list) {
    return list.at(rng() % list.size());
}

namespace detail {

inline std::FILE *out = nullptr;
inline bool is_asked = false;

// One message, one line, flushed: the referee doesn't see a line that is still in a buffer.
inline void say(const json::Value &message) {
    std::ostringstream line;
    line << message << '\n';
    std::fputs(line.str().c_str(), out);
    std::fflush(out);
}

inline std::unique_ptr<Game> begin(const json::Value &hello) {
    std::unique_ptr<Game> game = Game::start(hello["game"].text, hello["setup"]);
    game->seat = hello["seat"].integer();
    game->clock = std::make_shared<json::Value>(hello["clock"]);
    game->seats.clear();
    for (const json::Value &seat : hello["seats"].items)
        game->seats.push_back({seat["seat"].integer(), seat["name"].text, seat["colour"].text});
    return game;
}

inline void answer(const json::Value &message, const Game &game, const Chooser &choose) {
    std::unique_ptr<Game> asked = game.copy();
    asked->message = std::make_shared<json::Value>(message);
    if (!message["left_ms"].is_null())
        asked->left_ms = static_cast<long long>(message["left_ms"].number());
    is_asked = true;
    std::optional<Action> action = choose(*asked);
    is_asked = false;
    json::Value answer = json::object({{"type", action ? "action" : "resign"}});
    answer.add("turn", message["turn"]);
    if (action) answer.add("action", action->json());
    say(answer);
}

// Handles a message; returns whether the match goes on.
inline bool receive(const json::Value &message, std::unique_ptr<Game> &game,
                    const Chooser &choose, const json::Value &ready) {
    const std::string &type = message["type"].text;
    if (type == "hello") {
        rng.seed(static_cast<std::uint64_t>(message["seed"].number()));
        game = begin(message);
        say(ready);
    } else if (type == "turn") {
        answer(message, *game, choose);
    } else if (type == "played") {
        game->play(Action::read(message["action"]));
    } else if (type == "retired" && game->seats.size() > 2) {
        game->retire(message["seat"].integer());
    }
    return type != "over";
}

}  // namespace detail

// Plays a match, and returns the exit code. `want`: which of "position" and "actions" to include in
// game.message.
inline int run(const Chooser &choose, const std::string &name,
               const std::vector<std::string> &want = {}) {
    // All other output goes to stderr, and nothing else can read what the referee sends.
    std::FILE *in = fdopen(dup(0), "r");
    detail::out = fdopen(dup(1), "w");
    dup2(2, 1);
    dup2(open("/dev/null", O_RDONLY), 0);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    json::Value ready =
        json::object({{"type", "ready"}, {"name", name}, {"want", json::array(want)}});
    std::unique_ptr<Game> game;
    char *line = nullptr;
    std::size_t capacity = 0;
    while (getline(&line, &capacity, in) > 0) {
        std::string text(line);
        if (text.find_first_not_of(" \r\n") == text.npos) continue;
        try {
            if (!detail::receive(json::read(text), game, choose, ready)) break;
        } catch (const std::exception &error) {
            std::cerr << "the bot failed: " << error.what() << "\nits last message: " << text;
            return 1;
        }
    }
    std::free(line);
    return 0;
}

// Prints to stderr, which the transcript keeps with the turn.
template <class... Values> void log(const Values &...values) {
    ((std::cerr << values << ' '), ...) << std::endl;
}

// Shows viewers what you think; call it in `choose`. Usual fields are "score", "depth" and "text";
// `cells` marks cells: info(json::object({{"score", 3}}), {{cell, "good"}}).
inline void info(json::Value fields, const std::map<Cell, std::string> &cells = {}) {
    fields.add("type", "info");
    json::Value marks(json::Kind::array);
    for (const auto &[at, label] : cells)
        marks.items.push_back(json::object({{"at", at}, {"label", label}}));
    if (!cells.empty()) fields.add("cells", marks);
    if (detail::is_asked) detail::say(fields);
}

}  // namespace referee
