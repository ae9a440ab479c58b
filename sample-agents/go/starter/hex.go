package main

// Hex: black connects first and last column, red first and last row; see Colour(seat).
type Hex struct {
	*Game
	Size   int
	sides  [2]string
	winner int
}

func startHex(game *Game, setup *Setup, position *Position) Rules {
	hex := &Hex{game, or(setup.Size, 11), [2]string{"black", "red"}, Nobody}
	game.begin(boardOf("diamond", hex.Size), "black", "red")
	isRedFirst := setup.First == "red"
	if position.Colours != nil {
		isRedFirst = position.Colours[0] == "red"
	}
	game.place(position.Stones, nil) // Black's stones first.
	if isRedFirst {
		hex.sides = [2]string{"red", "black"}
		for cell, seat := range game.Pieces {
			game.Pieces[cell] = 1 - seat
		}
	}
	for seat := range hex.sides {
		if hex.joins(seat) {
			hex.winner = seat
		}
	}
	return hex
}

func (h *Hex) copyTo(game *Game) Rules {
	next := *h
	next.Game = game
	return &next
}

func (h *Hex) colour(seat int) string { return h.sides[seat] }

// Borders returns the two lists of cells that a seat has to connect.
func (h *Hex) Borders(seat int) [2][]Cell {
	var borders [2][]Cell
	for n := 0; n < h.Size; n++ {
		for side := range borders {
			cell := Cell{n, side * (h.Size - 1)}
			if h.colour(seat) == "red" {
				cell = Cell{cell.B, cell.A}
			}
			borders[side] = append(borders[side], cell)
		}
	}
	return borders
}

func (h *Hex) joins(seat int) bool {
	borders := h.Borders(seat)
	seen := map[Cell]bool{}
	for chain := borders[0]; len(chain) > 0; {
		cell := chain[len(chain)-1]
		chain = chain[:len(chain)-1]
		if h.Owner(cell) == seat && !seen[cell] {
			seen[cell] = true
			chain = append(chain, h.Neighbours(cell)...)
		}
	}
	for _, cell := range borders[1] {
		if seen[cell] {
			return true
		}
	}
	return false
}

func (h *Hex) actions() []Action {
	actions := []Action{}
	for index, cell := range h.Cells {
		if !h.Has(cell) {
			actions = append(actions, Action{Type: "place", At: &h.Cells[index]})
		}
	}
	if h.Turn == 1 && or(h.Setup.Swap, "none") != "none" {
		actions = append(actions, Action{Type: "swap"})
	}
	return actions
}

func (h *Hex) apply(action Action) {
	if action.Type == "place" {
		h.Pieces[*action.At] = h.ToMove
		if h.joins(h.ToMove) {
			h.winner = h.ToMove
		}
		return
	}
	stone := h.PiecesOf(1 - h.ToMove)[0]
	delete(h.Pieces, stone)
	if h.Setup.Swap == "sides" {
		h.sides[0], h.sides[1] = h.sides[1], h.sides[0]
	} else {
		stone = Cell{stone.B, stone.A}
	}
	h.Pieces[stone] = h.ToMove
}

func (h *Hex) ending() *Ending {
	if h.winner == Nobody {
		return nil
	}
	return &Ending{h.winner, "connected"}
}
