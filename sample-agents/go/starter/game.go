package main

import (
	"encoding/json"
	"fmt"
	"sort"
)

// Cell is a cell: row and column, or in Chexers q and r. In Chinese Checkers cells have numbers.
type Cell struct {
	A, B int
}

const noSecond = -1000

func (c Cell) Row() int    { return c.A }
func (c Cell) Column() int { return c.B }
func (c Cell) Q() int      { return c.A }
func (c Cell) R() int      { return c.B }
func (c Cell) Number() int { return c.A }

func (c Cell) less(other Cell) bool {
	return c.A < other.A || c.A == other.A && c.B < other.B
}

// MarshalJSON writes a cell as in a message.
func (c Cell) MarshalJSON() ([]byte, error) {
	if c.B == noSecond {
		return json.Marshal(c.A)
	}
	return json.Marshal([2]int{c.A, c.B})
}

// UnmarshalJSON reads a cell of a message.
func (c *Cell) UnmarshalJSON(text []byte) error {
	c.B = noSecond
	if text[0] != '[' {
		return json.Unmarshal(text, &c.A)
	}
	var pair [2]int
	err := json.Unmarshal(text, &pair)
	c.A, c.B = pair[0], pair[1]
	return err
}

// Action is an action as in a message; what its type doesn't have is nil.
type Action struct {
	Type       string   `json:"type"`
	At         *Cell    `json:"at,omitempty"`
	From       *Cell    `json:"from,omitempty"`
	Directions []string `json:"directions,omitempty"`
	To         *Cell    `json:"to,omitempty"`
	Path       []Cell   `json:"path,omitempty"`
}

// Start returns the cell that a piece leaves, also of a path.
func (a Action) Start() Cell {
	if a.Path != nil {
		return a.Path[0]
	}
	return *a.From
}

// End returns the cell where a piece arrives, also of a path.
func (a Action) End() Cell {
	if a.Path != nil {
		return a.Path[len(a.Path)-1]
	}
	if a.At != nil {
		return *a.At
	}
	return *a.To
}

func fromTo(kind string, from, to Cell) Action {
	return Action{Type: kind, From: &from, To: &to}
}

// Board has the cells in order, the lines from each to the rim, and its place on the grid.
type Board struct {
	cells  []Cell
	lines  map[Cell][][]Cell
	places map[Cell]Cell
}

var boards = map[string]*Board{}

// boardOf returns a board, which is created only once.
func boardOf(shape string, size int) *Board {
	key := fmt.Sprint(shape, size)
	if boards[key] == nil {
		boards[key] = newBoard(shape, size)
	}
	return boards[key]
}

func newBoard(shape string, size int) *Board {
	board := &Board{nil, map[Cell][][]Cell{}, map[Cell]Cell{}}
	names := map[Cell]Cell{} // By place; the star's are numbers.
	for a := -2 * size; a <= 2*size; a++ {
		for b := -2 * size; b <= 2*size; b++ {
			if hasPlace(shape, size, a, b) {
				name := Cell{a, b}
				if shape == "star" {
					name = Cell{len(names) + 1, noSecond}
				}
				names[Cell{a, b}] = name
				board.places[name] = Cell{a, b}
				board.cells = append(board.cells, name)
			}
		}
	}
	for _, name := range board.cells {
		place := board.places[name]
		for _, step := range steps(shape) {
			line := []Cell{}
			for next := add(place, step, 1); ; next = add(next, step, 1) {
				cell, ok := names[next]
				if !ok {
					break
				}
				line = append(line, cell)
			}
			board.lines[name] = append(board.lines[name], line)
		}
	}
	return board
}

func hasPlace(shape string, n, a, b int) bool {
	sum := a + b
	switch shape {
	case "triangle":
		return 0 <= b && b <= a && a < n
	case "hexagon":
		return max(a, b, sum, -a, -b, -sum) <= n
	case "star":
		return max(a, b, -sum) <= n || max(-a, -b, sum) <= n
	}
	return max(-a, -b) <= 0 && max(a, b) < n
}

// steps returns the steps to a cell's neighbours, in order.
func steps(shape string) []Cell {
	found := []Cell{}
	missing := map[string]int{"square": 2, "triangle": -1}[shape]
	if missing == 0 {
		missing = 1
	}
	for a := -1; a <= 1; a++ {
		for b := -1; b <= 1; b++ {
			// A hexagonal board lacks one diagonal: the triangle's is the other one.
			if (a != 0 || b != 0) && a*b != missing {
				found = append(found, Cell{a, b})
			}
		}
	}
	return found
}

func add(cell, step Cell, far int) Cell {
	return Cell{cell.A + far*step.A, cell.B + far*step.B}
}

func max(first int, more ...int) int {
	for _, other := range more {
		if other > first {
			first = other
		}
	}
	return first
}

// Nobody is the winner if there is none.
const Nobody = -1

// Seat is a player.
type Seat struct {
	Seat   int    `json:"seat"`
	Name   string `json:"name"`
	Colour string `json:"colour"`
}

// Ending is how a game has ended.
type Ending struct {
	Winner int
	Reason string
}

// Game is a game in progress. NewGame starts one without a referee, to explore.
type Game struct {
	Seat         int               // yours
	Seats        []Seat            // everyone's
	Turn, ToMove int               // the number of the turn; the seat whose turn it is
	Pieces       map[Cell]int      // the seat of the piece on each cell that has one, in every game
	Retired      map[int]bool      // the retired seats; their pieces stay on the board
	LeftMs       *int64            // milliseconds left, for this turn and all to come, or nil
	Setup        *Setup            // as in the referee's hello
	Clock        map[string]any    // as in the referee's hello
	Message      json.RawMessage   // the referee's turn as it came
	Cells        []Cell            // every cell of the board, in order
	Lines        map[Cell][][]Cell // the cells in each direction from a cell, to the rim
	Rules        Rules             // what only this game has: *Hex, *Chexers and so on
	board        *Board
	turnsMax     int
}

// Rules are the rules of one game. They embed the *Game, whose methods are the usual ones.
type Rules interface {
	actions() []Action
	apply(action Action)
	ending() *Ending
	copyTo(game *Game) Rules
	colour(seat int) string
	turnEnded()
	retiring(seat int)
}

// NewGame starts a game such as "hex". What the setup, a JSON object, leaves out is as usual.
func NewGame(name, setup string) (*Game, error) {
	game := &Game{Pieces: map[Cell]int{}, Retired: map[int]bool{}, turnsMax: 1 << 30}
	start, ok := starts[name]
	if !ok {
		return nil, fmt.Errorf("the kit doesn't know the game %s", name)
	}
	game.Setup = &Setup{}
	if err := json.Unmarshal([]byte(setup), game.Setup); err != nil {
		return nil, fmt.Errorf("the setup of %s: %w", name, err)
	}
	if game.Setup.Position == nil {
		game.Setup.Position = &Position{}
	}
	position := game.Setup.Position
	game.Turn, game.ToMove = position.Turn+position.Moves, position.ToMove
	for _, seat := range position.Retired {
		game.Retired[seat] = true
	}
	game.Rules = start(game, game.Setup, position)
	return game, nil
}

// begin sets the board and the seats.
func (g *Game) begin(board *Board, colours ...string) {
	g.board, g.Cells, g.Lines = board, board.cells, board.lines
	for seat, colour := range colours {
		g.Seats = append(g.Seats, Seat{seat, colour, colour})
	}
}

// place places the pieces of each seat: those of the position or else the usual ones.
func (g *Game) place(lists, usual [][]Cell) {
	if lists == nil {
		lists = usual
	}
	for seat, cells := range lists {
		for _, cell := range cells {
			g.Pieces[cell] = seat
		}
	}
}

// Actions returns every legal action, in the order of the rules; none when the game is over.
func (g *Game) Actions() []Action {
	if g.IsOver() {
		return []Action{}
	}
	return g.Rules.actions()
}

// After returns a copy of the game with one of its actions played.
func (g *Game) After(action Action) *Game {
	next := g.Copy()
	next.Play(action)
	return next
}

// Play plays one of the actions in this object itself.
func (g *Game) Play(action Action) {
	g.Rules.apply(action)
	g.endTurn()
}

// Copy returns an independent copy of the game.
func (g *Game) Copy() *Game {
	next := *g
	next.Pieces, next.Retired = copyMap(g.Pieces), copyMap(g.Retired)
	next.Rules = g.Rules.copyTo(&next)
	return &next
}

func copyMap[Key comparable, Value any](from map[Key]Value) map[Key]Value {
	to := make(map[Key]Value, len(from))
	for key, value := range from {
		to[key] = value
	}
	return to
}

// Ending returns how the game has ended; nil before.
func (g *Game) Ending() *Ending { return g.Rules.ending() }

// IsOver returns whether the game has ended by its rules.
func (g *Game) IsOver() bool { return g.Ending() != nil }

// Winner returns the seat that has won, or Nobody. Solving a puzzle is a win.
func (g *Game) Winner() int {
	if ending := g.Ending(); ending != nil {
		return ending.Winner
	}
	return Nobody
}

// Colour returns the colour of a seat.
func (g *Game) Colour(seat int) string { return g.Rules.colour(seat) }

// Has returns whether there is a piece on a cell.
func (g *Game) Has(cell Cell) bool {
	_, ok := g.Pieces[cell]
	return ok
}

// Owner returns the seat whose piece is on a cell, or Nobody.
func (g *Game) Owner(cell Cell) int {
	if seat, ok := g.Pieces[cell]; ok {
		return seat
	}
	return Nobody
}

// PiecesOf returns the cells of a seat's pieces, in order.
func (g *Game) PiecesOf(seat int) []Cell {
	own := []Cell{}
	for cell, other := range g.Pieces {
		if other == seat {
			own = append(own, cell)
		}
	}
	return sorted(own)
}

func sorted(cells []Cell) []Cell {
	sort.Slice(cells, func(i, j int) bool { return cells[i].less(cells[j]) })
	return cells
}

// Neighbours returns the cells beside this one, in order.
func (g *Game) Neighbours(cell Cell) []Cell {
	beside := []Cell{}
	for _, line := range g.Lines[cell] {
		if len(line) > 0 {
			beside = append(beside, line[0])
		}
	}
	return beside
}

// Retire retires a seat.
func (g *Game) Retire(seat int) {
	g.Rules.retiring(seat)
	g.Retired[seat] = true
	if seat == g.ToMove {
		g.endTurn()
	}
}

// endTurn ends a turn. Turns of retired seats are skipped, but counted.
func (g *Game) endTurn() {
	for isSkipped := true; isSkipped; isSkipped = g.Retired[g.ToMove] && g.Turn < g.turnsMax {
		g.Turn++
		g.ToMove = (g.ToMove + 1) % len(g.Seats)
	}
	g.Rules.turnEnded()
}

// What most games do: nothing special.
func (g *Game) colour(seat int) string { return g.Seats[seat].Colour }
func (g *Game) turnEnded()             {}
func (g *Game) retiring(seat int)      {}

func (g *Game) movePiece(from, to Cell) {
	delete(g.Pieces, from)
	g.Pieces[to] = g.ToMove
}

// jump is where a jump over a neighbour leads, and over what.
type jump struct {
	to, over Cell
}

func (g *Game) jumps(cell Cell) []jump {
	found := []jump{}
	for _, line := range g.Lines[cell] {
		if len(line) > 1 && g.Has(line[0]) && !g.Has(line[1]) {
			found = append(found, jump{line[1], line[0]})
		}
	}
	return found
}

// jumped returns what a jump passes over.
func (g *Game) jumped(from, to Cell) Cell {
	for _, jump := range g.jumps(from) {
		if jump.to == to {
			return jump.over
		}
	}
	panic(fmt.Sprint("there is no jump from ", from, " to ", to))
}

// moves returns the moves of the seat's pieces by a step or by jumps, each to an end once: by a
// shortest path, and of those by the first in order.
func (g *Game) moves(isLong bool, noLanding, noEnd map[Cell]bool) []Action {
	moves := []Action{}
	for _, start := range g.PiecesOf(g.ToMove) {
		paths := map[Cell][]Cell{start: {start}}
		ends := []Cell{start}
		for next := 0; next < len(ends); next++ { // Nearer landings come first.
			path := paths[ends[next]]
			for _, landing := range g.landings(start, ends[next], isLong) {
				if paths[landing] == nil && !noLanding[landing] {
					paths[landing] = append(path[:len(path):len(path)], landing)
					ends = append(ends, landing)
				}
			}
		}
		for _, cell := range g.Neighbours(start) {
			if !g.Has(cell) {
				if paths[cell] == nil {
					ends = append(ends, cell)
				}
				paths[cell] = []Cell{start, cell}
			}
		}
		for _, end := range sorted(ends) {
			if end != start && !noEnd[end] {
				moves = append(moves, Action{Type: "move", Path: paths[end]})
			}
		}
	}
	return moves
}

// landings returns where jumps of the piece from start lead over the first piece in sight: as far
// behind it as it is away.
func (g *Game) landings(start, here Cell, isLong bool) []Cell {
	isFree := func(cell Cell) bool { return cell == start || !g.Has(cell) }
	found := []Cell{}
	for _, line := range g.Lines[here] {
		away := 0
		for away < len(line) && isFree(line[away]) {
			away++
		}
		if 2*away+1 >= len(line) || away > 0 && !isLong {
			continue
		}
		isOpen := true
		for _, cell := range line[away+1 : 2*away+2] {
			isOpen = isOpen && isFree(cell)
		}
		if isOpen {
			found = append(found, line[2*away+1])
		}
	}
	return sorted(found)
}
