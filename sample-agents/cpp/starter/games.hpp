// The rules of the six games.
#pragma once

#include "game.hpp"

#include <array>

namespace referee {

// Adds copy() to the class of a game.
template <class Self> class Copyable : public Game {
public:
    using Game::Game;
    std::unique_ptr<Game> copy() const override {
        return std::make_unique<Self>(static_cast<const Self &>(*this));
    }
};

// Black connects first and last column, red first and last row; see colour(seat).
class Hex : public Copyable<Hex> {
public:
    int size;

    explicit Hex(const json::Value &setup)
        : Copyable(setup, Board::of("diamond", setup.integer("size", 11)), {"black", "red"}),
          size(setup.integer("size", 11)), swap_(setup.string("swap", "none")) {
        is_red_first_ = setup.string("first", "black") == "red";
        const json::Value &colours = setup["position"]["colours"];
        if (!colours.is_null()) is_red_first_ = colours[0].text == "red";
        place("stones", {{}, {}});
        // The position has black's stones first.
        if (is_red_first_)
            for (auto &piece : pieces) piece.second = 1 - piece.second;
        winner_ = joins(0) ? 0 : joins(1) ? 1 : nobody;
    }

    std::string colour(int seat) const override {
        return (seat == 0) == is_red_first_ ? "red" : "black";
    }

    // The two lists of cells that a seat has to connect.
    std::array<Cells, 2> borders(int seat) const {
        std::array<Cells, 2> borders;
        for (int n = 0; n < size; ++n)
            for (int end : {0, 1}) {
                Cell cell{n, end * (size - 1)};
                borders[end].push_back(colour(seat) == "black" ? cell : Cell{cell.b, cell.a});
            }
        return borders;
    }

    std::optional<Ending> ending() const override {
        return winner_ == nobody ? std::optional<Ending>() : Ending{winner_, "connected"};
    }

protected:
    std::vector<Action> legal_actions() const override {
        std::vector<Action> actions;
        for (Cell cell : cells())
            if (!has(cell)) actions.push_back({"place", {}, cell, {}, {}});
        if (turn == 1 && swap_ != "none") actions.push_back({"swap", {}, {}, {}, {}});
        return actions;
    }

    void apply(const Action &action) override {
        if (action.type == "place") {
            pieces[action.to.value()] = to_move;
            winner_ = joins(to_move) ? to_move : nobody;
            return;
        }
        Cell stone = pieces.begin()->first;
        bool is_sides = swap_ == "sides";
        pieces = {{is_sides ? stone : Cell{stone.b, stone.a}, to_move}};
        is_red_first_ ^= is_sides;
    }

private:
    std::string swap_;
    bool is_red_first_;
    int winner_;

    bool joins(int seat) const {
        auto [chain, far] = borders(seat);
        std::set<Cell> seen;
        for (std::size_t next = 0; next < chain.size(); ++next) {
            if (owner(chain[next]) != seat) continue;
            if (!seen.insert(chain[next]).second) continue;
            for (Cell cell : neighbours(chain[next])) chain.push_back(cell);
        }
        return std::any_of(far.begin(), far.end(), [&](Cell cell) { return seen.count(cell); });
    }
};

class Chexers : public Copyable<Chexers> {
public:
    std::array<int, 3> exits{};  // the number of each seat's exits

    explicit Chexers(const json::Value &setup)
        : Copyable(setup, Board::of("hexagon", 3), {"red", "green", "blue"}),
          exits_wanted_(setup.integer("exits", 4)),
          repetitions_(setup.integer("repetitions", 4)) {
        place("pieces", {edge(0), edge(1), edge(2)});
        const json::Value &counts = setup["position"]["exits"];
        for (std::size_t seat = 0; seat < counts.items.size(); ++seat)
            exits[seat] = counts[seat].integer();
        turns_max_ = 3 * setup.integer("turns_per_seat", 256);
        remember();
    }

    // Where a seat may leave the board.
    Cells exit_cells(int seat) const { return edge(seat + 3); }

    std::optional<Ending> ending() const override {
        for (int seat = 0; seat < 3; ++seat)
            if (exits[seat] >= exits_wanted_) return Ending{seat, "four_exits"};
        if (past_->count >= repetitions_) return Ending{nobody, "repetition"};
        if (turn >= turns_max_) return Ending{nobody, "turn_limit"};
        return {};
    }

protected:
    std::vector<Action> legal_actions() const override {
        std::vector<Action> actions;
        Cells own = pieces_of(to_move);
        for (Cell cell : own)
            if (towards(cell, to_move + 3) == 3) actions.push_back({"exit", cell, {}, {}, {}});
        for (Cell cell : own)
            for (Cell to : neighbours(cell))
                if (!has(to)) actions.push_back({"move", cell, to, {}, {}});
        for (Cell cell : own)
            for (auto [to, over] : jumps(cell)) actions.push_back({"jump", cell, to, {}, {}});
        if (actions.empty()) actions.push_back({"pass", {}, {}, {}, {}});
        return actions;
    }

    void apply(const Action &action) override {
        if (action.type == "jump") pieces[jumped(*action.from, *action.to)] = to_move;
        if (action.type == "exit") {
            ++exits[to_move];
            past_.reset();  // Positions before an exit can't recur.
        }
        if (action.from) pieces.erase(*action.from);
        if (action.to) pieces[*action.to] = to_move;
    }

    void end_turn() override {
        Game::end_turn();
        remember();
    }

private:
    // A position since the last exit, and how often it had occurred then.
    struct Past {
        std::map<Cell, int> pieces;
        int to_move, count;
        std::shared_ptr<const Past> before;
    };

    int exits_wanted_, repetitions_;
    std::shared_ptr<const Past> past_;

    void remember() {
        int count = 1;
        for (const Past *past = past_.get(); past; past = past->before.get())
            if (past->to_move == to_move && past->pieces == pieces) {
                count += past->count;
                break;
            }
        past_ = std::make_shared<Past>(Past{pieces, to_move, count, past_});
    }

    // How far a cell is towards an edge: the starts of red, green and blue, then the exits.
    static int towards(Cell cell, int edge) {
        int third = cell.q() + cell.r();
        int far[] = {-cell.q(), -cell.r(), third, cell.q(), cell.r(), -third};
        return far[edge];
    }

    Cells edge(int edge) const {
        Cells found;
        for (Cell cell : cells())
            if (towards(cell, edge) == 3) found.push_back(cell);
        return found;
    }
};

class Freckers : public Copyable<Freckers> {
public:
    std::set<Cell> pads;                     // the free lily pads
    static constexpr int goals[2] = {7, 0};  // the row that each seat's frogs go to

    explicit Freckers(const json::Value &setup)
        : Copyable(setup, Board::of("square", 8), {"red", "blue"}),
          is_every_(setup.string("landing", "last") == "every") {
        turns_max_ = setup.integer("turn_limit", 150);
        std::vector<Cells> rows(8);
        for (int row = 0; row < 8; ++row)
            for (int column = 1; column < 7; ++column) rows[row].push_back({row, column});
        place("frogs", {rows[0], rows[7]});
        Cells grown{{0, 0}, {0, 7}, {7, 0}, {7, 7}};
        for (int row : {1, 6}) grown.insert(grown.end(), rows[row].begin(), rows[row].end());
        grown = placed("pads", grown);
        pads.insert(grown.begin(), grown.end());
    }

    // The number of a seat's frogs that are across.
    int across(int seat) const {
        int count = 0;
        for (Cell cell : pieces_of(seat)) count += cell.row() == goals[seat];
        return count;
    }

    std::optional<Ending> ending() const override {
        int red = across(0), blue = across(1), ahead = red == blue ? nobody : blue > red;
        if (red == 6 || blue == 6) return Ending{ahead, "all_across"};
        if (turn >= turns_max_) return Ending{ahead, "turn_limit"};
        return {};
    }

protected:
    std::vector<Action> legal_actions() const override {
        std::vector<Action> actions;
        for (Cell start : pieces_of(to_move))
            for (const auto &[end, directions] : routes(start))
                if (pads.count(end)) actions.push_back({"move", start, end, {}, directions});
        actions.push_back({"grow", {}, {}, {}, {}});
        return actions;
    }

    void apply(const Action &action) override {
        if (action.type == "move") {
            move_piece(action.from.value(), action.to.value());
            pads.erase(*action.to);
            return;
        }
        for (Cell frog : pieces_of(to_move))
            for (Cell cell : neighbours(frog))
                if (!has(cell)) pads.insert(cell);
    }

private:
    using Directions = std::vector<std::string>;
    struct Way {
        const char *name;
        int rows, columns;
        Cell from(Cell cell, int far) const {
            return {cell.a + far * rows, cell.b + far * columns};
        }
    };
    static constexpr Way ways[2][5] = {
        {{"RIGHT", 0, 1}, {"LEFT", 0, -1}, {"DOWN", 1, 0}, {"DOWN_LEFT", 1, -1},
         {"DOWN_RIGHT", 1, 1}},
        {{"RIGHT", 0, 1}, {"LEFT", 0, -1}, {"UP", -1, 0}, {"UP_LEFT", -1, -1},
         {"UP_RIGHT", -1, 1}}};

    bool is_every_;

    // The shortest directions from a frog to cells around it and to where it can jump.
    std::map<Cell, Directions> routes(Cell start) const {
        std::map<Cell, Directions> routes{{start, {}}};
        Cells queue{start};
        for (std::size_t next = 0; next < queue.size(); ++next)  // Nearer landings come first.
            for (const Way &way : ways[to_move]) {
                Cell over = way.from(queue[next], 1), to = way.from(queue[next], 2);
                bool is_jump = has(over) && board_->lines.count(to) && !has(to);
                if (!is_jump || routes.count(to) || (is_every_ && !pads.count(to))) continue;
                Directions longer = routes[queue[next]];
                longer.push_back(way.name);
                routes[to] = longer;
                queue.push_back(to);
            }
        for (const Way &way : ways[to_move]) routes[way.from(start, 1)] = {way.name};
        return routes;
    }
};

class ChineseCheckers : public Copyable<ChineseCheckers> {
public:
    int passes;  // in a row

    explicit ChineseCheckers(const json::Value &setup)
        : Copyable(setup, Board::of("star", setup.integer("size", 4)),
                   first_colours(setup.integer("seats", 2))),
          is_long_(setup.string("jumps", "long") == "long"),
          is_filled_(setup.string("win", "own") == "filled"),
          neutral_rule_(setup.string("neutral", "pass")) {
        auto zones = std::make_shared<Zones>();
        std::vector<Cells> usual;
        for (int point : points_of(seats.size())) {
            zones->starts.push_back(corner(point));
            zones->targets.push_back(corner(point + 3));
            std::set<Cell> neutral;
            for (int other = 0; other < 6; ++other)
                if (other % 3 != point % 3) neutral.merge(corner(other));
            zones->neutral.push_back(neutral);
            usual.emplace_back(zones->starts.back().begin(), zones->starts.back().end());
        }
        zones_ = zones;
        place("marbles", usual);
        passes = setup["position"].integer("passes", 0);
        turns_max_ = setup.integer("max_turns", 1000);
    }

    const std::set<Cell> &start_of(int seat) const { return zones_->starts[seat]; }
    const std::set<Cell> &target_of(int seat) const { return zones_->targets[seat]; }
    const std::set<Cell> &neutral_of(int seat) const { return zones_->neutral[seat]; }

    // The number of steps between two cells of an empty board.
    int distance(Cell cell, Cell other) const {
        Cell from = board_->places.at(cell), to = board_->places.at(other);
        int a = from.a - to.a, b = from.b - to.b;
        return std::max({std::abs(a), std::abs(b), std::abs(a + b)});
    }

    // Whether a seat has brought its marbles home.
    bool is_home(int seat) const {
        const std::set<Cell> &target = target_of(seat);
        int own_outside = 0, own_inside = 0, filled = 0, counted = 0;
        for (auto [cell, owner] : pieces) {
            bool is_inside = target.count(cell) > 0;
            own_inside += is_inside && owner == seat;
            own_outside += !is_inside && owner == seat;
            filled += is_inside;
            counted += is_inside && (owner == seat || retired.count(owner));
        }
        if (retired.count(seat) || own_inside == 0) return false;
        int size = static_cast<int>(target.size());
        return is_filled_ ? filled == size : own_outside == 0 || counted == size;
    }

    std::optional<Ending> ending() const override {
        std::vector<int> left = left_in_order();
        std::rotate(left.rbegin(), left.rbegin() + 1, left.rend());  // The last mover is first.
        for (int seat : left)
            if (is_home(seat)) return Ending{seat, "home"};
        if (passes >= static_cast<int>(left.size())) return Ending{nobody, "no_moves"};
        if (turn >= turns_max_) return Ending{nobody, "turn_limit"};
        return {};
    }

    void retire(int seat) override {
        // A pass of a seat that is out no longer counts among those in a row.
        std::vector<int> left = left_in_order();
        left.erase(std::remove(left.begin(), left.end(), to_move), left.end());
        std::size_t counted = std::min<std::size_t>(passes, left.size());
        passes -= static_cast<int>(std::count(left.end() - counted, left.end(), seat));
        Game::retire(seat);
    }

protected:
    std::vector<Action> legal_actions() const override {
        static const std::set<Cell> none;
        const std::set<Cell> &neutral = neutral_of(to_move);
        std::vector<Action> actions = moves(is_long_, neutral_rule_ == "closed" ? neutral : none,
                                            neutral_rule_ == "free" ? none : neutral);
        if (actions.empty()) actions.push_back({"pass", {}, {}, {}, {}});
        return actions;
    }

    void apply(const Action &action) override {
        ++passes;
        if (action.type == "move") {
            move_piece(action.from.value(), action.to.value());
            passes = 0;
        }
    }

private:
    struct Zones {
        std::vector<std::set<Cell>> starts, targets, neutral;
    };

    bool is_long_, is_filled_;
    std::string neutral_rule_;
    std::shared_ptr<const Zones> zones_;

    static std::vector<std::string> first_colours(int count) {
        std::vector<std::string> all{"red", "yellow", "green", "blue", "purple", "orange"};
        all.resize(count);
        return all;
    }

    // The points of the star from which the seats start, clockwise from the top.
    static std::vector<int> points_of(std::size_t seats) {
        if (seats == 2) return {0, 3};
        if (seats == 3) return {0, 2, 4};
        if (seats == 4) return {1, 2, 4, 5};
        return {0, 1, 2, 3, 4, 5};
    }

    std::set<Cell> corner(int point) const {
        int size = setup->integer("size", 4);
        std::set<Cell> found;
        for (auto [cell, place] : board_->places) {
            int sum = place.a + place.b;
            int towards[] = {-place.a, place.b, sum, place.a, -place.b, -sum};
            if (towards[point % 6] > size) found.insert(cell);
        }
        return found;
    }

    // The active seats, in the order of play from the one to move.
    std::vector<int> left_in_order() const {
        std::vector<int> left;
        for (int n = 0, count = static_cast<int>(seats.size()); n < count; ++n)
            if (!retired.count((to_move + n) % count)) left.push_back((to_move + n) % count);
        return left;
    }
};

class CheckerPuzzle : public Copyable<CheckerPuzzle> {
public:
    std::set<Cell> goal;  // the cells that the pieces have to fill

    explicit CheckerPuzzle(const json::Value &setup)
        : Copyable(setup, Board::of("diamond", setup.integer("size", 4)), {"peg"}) {
        int depth = setup.integer("depth", 3), last = 2 * setup.integer("size", 4) - 2;
        turns_max_ = setup.integer("max_moves", 200);
        Cells camp;
        for (Cell cell : cells()) {
            if (cell.a + cell.b < depth) goal.insert(cell);
            if (last - cell.a - cell.b < depth) camp.push_back(cell);
        }
        for (Cell cell : placed("pieces", camp)) pieces[cell] = 0;
    }

    std::optional<Ending> ending() const override {
        auto is_filled = [&](Cell cell) { return has(cell); };
        if (std::all_of(goal.begin(), goal.end(), is_filled)) return Ending{0, "solved"};
        if (turn >= turns_max_) return Ending{nobody, "move_limit"};
        return {};
    }

protected:
    std::vector<Action> legal_actions() const override { return moves(false, {}, {}); }
    void apply(const Action &action) override {
        move_piece(action.from.value(), action.to.value());
    }
};

class PegSolitaire : public Copyable<PegSolitaire> {
public:
    std::set<Cell> open;  // the cells that were without a peg at the start

    explicit PegSolitaire(const json::Value &setup)
        : Copyable(setup, Board::of(setup.string("shape", "triangle"), size_of(setup)), {"peg"}),
          at_start_(setup.string("finish", "any") == "start") {
        int end = size_of(setup) - 1;
        Cell middle = is_triangle(setup) ? Cell{2 * end / 3, end / 3} : Cell{end / 2, end / 2};
        Cells given = setup["open"].is_null() ? Cells{middle} : read_cells(setup["open"]);
        open.insert(given.begin(), given.end());
        Cells camp;
        for (Cell cell : cells())
            if (!open.count(cell)) camp.push_back(cell);
        for (Cell cell : placed("pegs", camp)) pieces[cell] = 0;
    }

    std::optional<Ending> ending() const override {
        for (auto [cell, seat] : pieces)
            if (!jumps(cell).empty()) return {};
        bool is_solved = pieces.size() == 1 && (!at_start_ || has(*open.begin()));
        return is_solved ? Ending{0, "solved"} : Ending{nobody, "stuck"};
    }

protected:
    std::vector<Action> legal_actions() const override {
        std::vector<Action> actions;
        for (auto [cell, seat] : pieces)
            for (auto [to, over] : jumps(cell)) actions.push_back({"jump", cell, to, {}, {}});
        return actions;
    }

    void apply(const Action &action) override {
        pieces.erase(jumped(action.from.value(), action.to.value()));
        move_piece(*action.from, *action.to);
    }

private:
    bool at_start_;

    static bool is_triangle(const json::Value &setup) {
        return setup.string("shape", "triangle") == "triangle";
    }
    static int size_of(const json::Value &setup) {
        return setup.integer("size", is_triangle(setup) ? 5 : 6);
    }
};

inline std::unique_ptr<Game> Game::start(const std::string &name, const json::Value &setup) {
    if (name == "hex") return std::make_unique<Hex>(setup);
    if (name == "chexers") return std::make_unique<Chexers>(setup);
    if (name == "freckers") return std::make_unique<Freckers>(setup);
    if (name == "chinese-checkers") return std::make_unique<ChineseCheckers>(setup);
    if (name == "checker-puzzle") return std::make_unique<CheckerPuzzle>(setup);
    if (name == "peg-solitaire") return std::make_unique<PegSolitaire>(setup);
    throw std::invalid_argument("the kit doesn't know the game " + name);
}

}  // namespace referee
