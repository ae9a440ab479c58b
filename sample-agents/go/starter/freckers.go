package main

// Freckers has the free lily pads.
type Freckers struct {
	*Game
	Pads map[Cell]bool
}

// Goals are the rows that each seat's frogs go to.
var Goals = [2]int{7, 0}

type direction struct {
	name string
	step Cell
}

var directions = [2][5]direction{
	{{"RIGHT", Cell{0, 1}}, {"LEFT", Cell{0, -1}}, {"DOWN", Cell{1, 0}},
		{"DOWN_LEFT", Cell{1, -1}}, {"DOWN_RIGHT", Cell{1, 1}}},
	{{"RIGHT", Cell{0, 1}}, {"LEFT", Cell{0, -1}}, {"UP", Cell{-1, 0}},
		{"UP_LEFT", Cell{-1, -1}}, {"UP_RIGHT", Cell{-1, 1}}},
}

func startFreckers(game *Game, setup *Setup, position *Position) Rules {
	game.begin(boardOf("square", 8), "red", "blue")
	rows := [8][]Cell{}
	for _, cell := range game.Cells {
		if 1 <= cell.B && cell.B <= 6 {
			rows[cell.A] = append(rows[cell.A], cell)
		}
	}
	game.place(position.Frogs, [][]Cell{rows[0], rows[7]})
	game.turnsMax = or(setup.TurnLimit, 150)
	pads := position.Pads
	if pads == nil {
		pads = append([]Cell{{0, 0}, {0, 7}, {7, 0}, {7, 7}}, append(rows[1], rows[6]...)...)
	}
	return &Freckers{game, set(pads)}
}

func set(cells []Cell) map[Cell]bool {
	found := map[Cell]bool{}
	for _, cell := range cells {
		found[cell] = true
	}
	return found
}

func (f *Freckers) copyTo(game *Game) Rules { return &Freckers{game, copyMap(f.Pads)} }

// routes returns the shortest directions from a frog to where it can jump and to the cells around
// it.
func (f *Freckers) routes(start Cell) ([]Cell, map[Cell][]string) {
	routes := map[Cell][]string{start: {}}
	ends := []Cell{start}
	for next := 0; next < len(ends); next++ { // Nearer landings come first.
		for _, way := range directions[f.ToMove] {
			to, route := add(ends[next], way.step, 2), routes[ends[next]]
			isJump := f.Has(add(ends[next], way.step, 1)) && f.Lines[to] != nil && !f.Has(to)
			isAllowed := f.Pads[to] || f.Setup.Landing != "every"
			if isJump && isAllowed && routes[to] == nil {
				routes[to] = append(route[:len(route):len(route)], way.name)
				ends = append(ends, to)
			}
		}
	}
	for _, way := range directions[f.ToMove] {
		to := add(start, way.step, 1)
		if routes[to] == nil {
			ends = append(ends, to)
		}
		routes[to] = []string{way.name}
	}
	return sorted(ends), routes
}

func (f *Freckers) actions() []Action {
	actions := []Action{}
	for _, start := range f.PiecesOf(f.ToMove) {
		ends, routes := f.routes(start)
		for _, end := range ends {
			if f.Pads[end] {
				action := fromTo("move", start, end)
				action.Directions = routes[end]
				actions = append(actions, action)
			}
		}
	}
	return append(actions, Action{Type: "grow"})
}

func (f *Freckers) apply(action Action) {
	if action.Type == "move" {
		f.movePiece(*action.From, *action.To)
		delete(f.Pads, *action.To)
		return
	}
	for _, frog := range f.PiecesOf(f.ToMove) {
		for _, cell := range f.Neighbours(frog) {
			if !f.Has(cell) {
				f.Pads[cell] = true
			}
		}
	}
}

// Across returns the number of a seat's frogs that are across.
func (f *Freckers) Across(seat int) int {
	count := 0
	for _, cell := range f.PiecesOf(seat) {
		if cell.Row() == Goals[seat] {
			count++
		}
	}
	return count
}

func (f *Freckers) ending() *Ending {
	red, blue, ahead := f.Across(0), f.Across(1), Nobody
	if red > blue {
		ahead = 0
	} else if blue > red {
		ahead = 1
	}
	if red == 6 || blue == 6 {
		return &Ending{ahead, "all_across"}
	}
	if f.Turn >= f.turnsMax {
		return &Ending{ahead, "turn_limit"}
	}
	return nil
}
