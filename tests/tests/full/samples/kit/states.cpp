// Plays the events on stdin with the C++ kit and prints the states; see agents/kits.rs.
#include "referee_kit.hpp"

using namespace referee;
using json::Value;

static Value lists(const Game &game) {
    std::vector<Value> lists;
    for (const Game::Seat &seat : game.seats)
        lists.push_back(json::array(game.pieces_of(seat.seat)));
    return json::array(lists);
}

// Returns the position in the protocol's form, made from the kit's public members.
static Value position(const Game &game) {
    const Value &setup = *game.setup;
    Value fields = json::object({{game.seats.size() == 1 ? "moves" : "turn", game.turn}});
    if (game.seats.size() == 1) fields.add("size", setup["size"]);
    else fields.add("to_move", game.to_move);
    if (game.seats.size() > 2) fields.add("retired", json::array(game.retired));
    if (auto *hex = dynamic_cast<const Hex *>(&game)) {
        int black = hex->colour(0) == "black" ? 0 : 1;
        fields.add("size", hex->size);
        fields.add("colours", json::array(std::vector<Value>{hex->colour(0), hex->colour(1)}));
        fields.add("stones", json::array(std::vector<Value>{
                                 json::array(hex->pieces_of(black)),
                                 json::array(hex->pieces_of(1 - black))}));
    } else if (auto *chexers = dynamic_cast<const Chexers *>(&game)) {
        fields.add("pieces", lists(game));
        fields.add("exits", json::array(chexers->exits));
    } else if (auto *freckers = dynamic_cast<const Freckers *>(&game)) {
        fields.add("frogs", lists(game));
        fields.add("pads", json::array(freckers->pads));
    } else if (auto *star = dynamic_cast<const ChineseCheckers *>(&game)) {
        fields.add("marbles", lists(game));
        fields.add("passes", star->passes);
    } else if (dynamic_cast<const CheckerPuzzle *>(&game)) {
        fields.add("depth", setup["depth"]);
        fields.add("pieces", json::array(game.pieces_of(0)));
    } else if (auto *pegs = dynamic_cast<const PegSolitaire *>(&game)) {
        fields.add("shape", setup["shape"]);
        fields.add("pegs", json::array(game.pieces_of(0)));
        fields.add("open", json::array(pegs->open));
    }
    return fields;
}

static Value scores(const Game &game) {
    std::vector<int> scores;
    if (auto *chexers = dynamic_cast<const Chexers *>(&game))
        scores.assign(chexers->exits.begin(), chexers->exits.end());
    else if (auto *freckers = dynamic_cast<const Freckers *>(&game))
        scores = {freckers->across(0), freckers->across(1)};
    else if (dynamic_cast<const CheckerPuzzle *>(&game))
        scores = {game.turn};
    else if (dynamic_cast<const PegSolitaire *>(&game))
        scores = {static_cast<int>(game.pieces.size())};
    return scores.empty() ? Value() : json::array(scores);
}

// Returns how the game ended, in the protocol's form.
static Value outcome(const Game &game) {
    std::optional<Game::Ending> ending = game.ending();
    if (!ending) return {};
    bool is_draw = ending->winner == nobody && game.seats.size() > 1;
    std::vector<int> places;
    for (const Game::Seat &seat : game.seats)
        places.push_back(is_draw || game.winner() == seat.seat ? 1 : 2);
    Value fields = json::object({{"places", json::array(places)}, {"reason", ending->reason}});
    if (!scores(game).is_null()) fields.add("scores", scores(game));
    return fields;
}

static void print(const Game &game) {
    Value actions(json::Kind::array);
    for (const Action &action : game.actions()) actions.items.push_back(action.json());
    std::cout << json::object({{"position", position(game)},
                               {"actions", actions},
                               {"outcome", outcome(game)}})
              << '\n';
}

int main() {
    std::unique_ptr<Game> game;
    for (std::string line; std::getline(std::cin, line);) {
        Value event = json::read(line);
        if (!event["game"].is_null()) game = Game::start(event["game"].text, event["setup"]);
        if (!event["played"].is_null()) game->play(Action::read(event["played"]));
        if (!event["retired"].is_null()) game->retire(event["retired"].integer());
        if (!event["tried"].is_null()) print(*game->after(Action::read(event["tried"])));
        if (!event["state"].is_null()) print(*game);
    }
}
