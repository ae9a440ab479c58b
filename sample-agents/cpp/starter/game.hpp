// What all games have in common: cells, actions, boards, and the class Game.
#pragma once

#include "json.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace referee {

// A cell: row and column, or in Chexers q and r. In Chinese Checkers cells have numbers.
struct Cell {
    static constexpr int no_second = -1000;
    int a = 0, b = no_second;

    static Cell read(const json::Value &value) {
        if (value.kind == json::Kind::number) return {value.integer()};
        return {value[0].integer(), value[1].integer()};
    }

    int row() const { return a; }
    int column() const { return b; }
    int q() const { return a; }
    int r() const { return b; }
    int number() const { return a; }
    bool operator==(Cell other) const { return a == other.a && b == other.b; }
    bool operator!=(Cell other) const { return !(*this == other); }
    bool operator<(Cell other) const { return std::tie(a, b) < std::tie(other.a, other.b); }

    operator json::Value() const {
        return b == no_second ? json::Value(a) : json::array(std::vector<int>{a, b});
    }
};

using Cells = std::vector<Cell>;

inline std::ostream &operator<<(std::ostream &out, Cell cell) { return out << json::Value(cell); }

inline Cells read_cells(const json::Value &list) {
    Cells cells;
    for (const json::Value &item : list.items) cells.push_back(Cell::read(item));
    return cells;
}

// An action. `to` is also the cell of "place", and a path has its ends as `from` and `to` too.
struct Action {
    std::string type;
    std::optional<Cell> from, to;
    Cells path;
    std::vector<std::string> directions;

    static Action move(const Cells &path) { return {"move", path.front(), path.back(), path, {}}; }

    // Reads an action of a message.
    static Action read(const json::Value &value) {
        if (!value["path"].is_null()) return move(read_cells(value["path"]));
        const json::Value &from = value["from"], &to = value[value["at"].is_null() ? "to" : "at"];
        Action action{value["type"].text, {}, {}, {}, {}};
        if (!from.is_null()) action.from = Cell::read(from);
        if (!to.is_null()) action.to = Cell::read(to);
        for (const json::Value &name : value["directions"].items)
            action.directions.push_back(name.text);
        return action;
    }

    // The action as in a message.
    json::Value json() const {
        json::Value value = json::object({{"type", type}});
        if (!path.empty()) {
            value.add("path", json::array(path));
            return value;
        }
        if (from) value.add("from", *from);
        if (to) value.add(type == "place" ? "at" : "to", *to);
        if (!directions.empty()) value.add("directions", json::array(directions));
        return value;
    }
};

inline std::ostream &operator<<(std::ostream &out, const Action &action) {
    return out << action.json();
}

// The cells of a board in order, the lines from each to the rim, and its place on the grid.
struct Board {
    Cells cells;
    std::map<Cell, std::vector<Cells>> lines;
    std::map<Cell, Cell> places;

    // Returns a board, which is created only once.
    static const Board &of(const std::string &shape, int size) {
        static std::map<std::pair<std::string, int>, Board> known;
        auto [at, is_new] = known.try_emplace({shape, size});
        if (is_new) at->second.create(shape, size);
        return at->second;
    }

private:
    static bool has(const std::string &shape, int n, int a, int b) {
        if (shape == "triangle") return 0 <= b && b <= a && a < n;
        if (shape == "hexagon") return std::max({std::abs(a), std::abs(b), std::abs(a + b)}) <= n;
        if (shape == "star")
            return std::max({a, b, -a - b}) <= n || std::min({a, b, -a - b}) >= -n;
        return 0 <= std::min(a, b) && std::max(a, b) < n;
    }

    void create(const std::string &shape, int size) {
        std::map<Cell, Cell> names;  // By place; the star's are numbers.
        for (int a = -2 * size; a <= 2 * size; ++a)
            for (int b = -2 * size; b <= 2 * size; ++b)
                if (has(shape, size, a, b)) {
                    Cell name{a, b};
                    if (shape == "star") name = {static_cast<int>(names.size()) + 1};
                    names[{a, b}] = name;
                    places[name] = {a, b};
                    cells.push_back(name);
                }
        for (auto [place, name] : names)
            for (int a = -1; a <= 1; ++a)
                for (int b = -1; b <= 1; ++b) {
                    // A hexagonal board lacks one diagonal: the triangle's is the other one.
                    bool is_step = shape == "square" || a * b != (shape == "triangle" ? -1 : 1);
                    if (!is_step || (a == 0 && b == 0)) continue;
                    Cells line;
                    Cell next{place.a + a, place.b + b};
                    for (; names.count(next); next = {next.a + a, next.b + b})
                        line.push_back(names[next]);
                    lines[name].push_back(line);
                }
    }
};

constexpr int nobody = -1;

// A game in progress, with its rules. Game::start starts one without a referee, to explore.
class Game {
public:
    struct Seat {
        int seat;
        std::string name, colour;
    };
    struct Ending {
        int winner;  // or nobody
        std::string reason;
    };

    int seat = 0;                // yours
    std::vector<Seat> seats;     // everyone's
    int turn = 0, to_move = 0;   // the number of the turn; the seat whose turn it is
    std::map<Cell, int> pieces;  // the seat of the piece on each cell that has one, in every game
    std::set<int> retired;       // the retired seats; their pieces stay on the board
    std::optional<long long> left_ms;  // milliseconds left, for this turn and all to come
    // As in the referee's `hello`; `message` is its `turn` as it came.
    std::shared_ptr<const json::Value> setup, clock, message;

    // Starts a game such as "hex"; what the setup leaves out is as usual.
    static std::unique_ptr<Game> start(const std::string &name, const json::Value &setup);
    virtual ~Game() = default;

    // An independent copy of the game.
    virtual std::unique_ptr<Game> copy() const = 0;
    // How the game has ended; nothing before.
    virtual std::optional<Ending> ending() const = 0;
    // The colour of a seat.
    virtual std::string colour(int seat) const { return seats.at(seat).colour; }

    // Every legal action, in the order of the rules; none when the game is over.
    std::vector<Action> actions() const {
        return is_over() ? std::vector<Action>() : legal_actions();
    }

    // A copy of the game with one of its actions played.
    std::unique_ptr<Game> after(const Action &action) const {
        std::unique_ptr<Game> next = copy();
        next->play(action);
        return next;
    }

    // Plays one of the actions in this object itself.
    void play(const Action &action) {
        apply(action);
        end_turn();
    }

    // Whether the game has ended by its rules.
    bool is_over() const { return ending().has_value(); }

    // The seat that has won, or nobody. Solving a puzzle is a win.
    int winner() const {
        std::optional<Ending> end = ending();
        return end ? end->winner : nobody;
    }

    // Every cell of the board, in order.
    const Cells &cells() const { return board_->cells; }
    // The cells in each direction from a cell, to the rim.
    const std::vector<Cells> &lines(Cell cell) const { return board_->lines.at(cell); }

    // The cells beside this one, in order.
    Cells neighbours(Cell cell) const {
        Cells beside;
        for (const Cells &line : lines(cell))
            if (!line.empty()) beside.push_back(line[0]);
        return beside;
    }

    // The seat whose piece is on a cell, or nobody.
    int owner(Cell cell) const {
        auto piece = pieces.find(cell);
        return piece == pieces.end() ? nobody : piece->second;
    }

    // The cells of a seat's pieces, in order.
    Cells pieces_of(int seat) const {
        Cells own;
        for (auto [cell, other] : pieces)
            if (other == seat) own.push_back(cell);
        return own;
    }

    bool has(Cell cell) const { return pieces.count(cell) > 0; }

    // Retires a seat.
    virtual void retire(int seat) {
        retired.insert(seat);
        if (seat == to_move) end_turn();
    }

protected:
    const Board *board_;
    int turns_max_ = 1 << 30;

    Game(const json::Value &setup, const Board &board, const std::vector<std::string> &colours)
        : setup(std::make_shared<json::Value>(setup)), board_(&board) {
        for (const std::string &colour : colours)
            seats.push_back({static_cast<int>(seats.size()), colour, colour});
        const json::Value &position = setup["position"];
        turn = position.integer("turn", position.integer("moves", 0));
        to_move = position.integer("to_move", 0);
        for (const json::Value &seat : position["retired"].items) retired.insert(seat.integer());
    }

    virtual std::vector<Action> legal_actions() const = 0;
    virtual void apply(const Action &action) = 0;

    // Ends a turn. Turns of retired seats are skipped, but counted.
    virtual void end_turn() {
        do {
            ++turn;
            to_move = (to_move + 1) % static_cast<int>(seats.size());
        } while (retired.count(to_move) && turn < turns_max_);
    }

    // The cells in a list of the position, or the usual ones.
    Cells placed(const char *name, const Cells &usual) const {
        const json::Value &list = (*setup)["position"][name];
        return list.is_null() ? usual : read_cells(list);
    }

    // Places the pieces: each seat's in a list of the position, or the usual ones.
    void place(const char *name, const std::vector<Cells> &usual) {
        const json::Value &lists = (*setup)["position"][name];
        for (int seat = 0; seat < static_cast<int>(seats.size()); ++seat)
            for (Cell cell : lists.is_null() ? usual[seat] : read_cells(lists[seat]))
                pieces[cell] = seat;
    }

    void move_piece(Cell from, Cell to) {
        pieces.erase(from);
        pieces[to] = to_move;
    }

    // Where a jump over a neighbour can lead, and over what.
    std::vector<std::pair<Cell, Cell>> jumps(Cell cell) const {
        std::vector<std::pair<Cell, Cell>> ways;
        for (const Cells &line : lines(cell))
            if (line.size() > 1 && has(line[0]) && !has(line[1]))
                ways.push_back({line[1], line[0]});
        return ways;
    }

    // What a jump passes over.
    Cell jumped(Cell from, Cell to) const {
        for (auto [end, over] : jumps(from))
            if (end == to) return over;
        throw std::invalid_argument("there is no such jump");
    }

    // The moves of the seat's pieces by a step or by jumps, each to an end once: by a shortest
    // path, and of those by the first in order.
    std::vector<Action> moves(bool is_long, const std::set<Cell> &no_landing,
                              const std::set<Cell> &no_end) const {
        std::vector<Action> moves;
        for (Cell start : pieces_of(to_move)) {
            std::map<Cell, Cells> paths{{start, {start}}};
            Cells queue{start};
            for (std::size_t next = 0; next < queue.size(); ++next)  // Nearer landings come first.
                for (Cell landing : landings(start, queue[next], is_long))
                    if (!paths.count(landing) && !no_landing.count(landing)) {
                        Cells path = paths[queue[next]];
                        path.push_back(landing);
                        paths[landing] = path;
                        queue.push_back(landing);
                    }
            for (Cell cell : neighbours(start))
                if (!has(cell)) paths[cell] = {start, cell};
            for (const auto &[end, path] : paths)
                if (end != start && !no_end.count(end)) moves.push_back(Action::move(path));
        }
        return moves;
    }

private:
    // Where jumps of the piece from `start` lead over the first piece in sight: as far behind it as
    // it is away.
    std::set<Cell> landings(Cell start, Cell here, bool is_long) const {
        auto is_free = [&](Cell cell) { return cell == start || !has(cell); };
        std::set<Cell> found;
        for (const Cells &line : lines(here)) {
            std::size_t reach = is_long ? line.size() / 2 : line.size() > 1, away = 0;
            while (away < reach && is_free(line[away])) ++away;
            if (away == reach) continue;
            auto behind = line.begin() + away + 1;
            if (std::all_of(behind, behind + away + 1, is_free)) found.insert(line[2 * away + 1]);
        }
        return found;
    }
};

}  // namespace referee
