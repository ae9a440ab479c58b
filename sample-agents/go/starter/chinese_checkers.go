package main

// ChineseCheckers has for each seat sets of cells, and the passes in a row.
type ChineseCheckers struct {
	*Game
	Starts, Targets, Neutral []map[Cell]bool
	Passes                   int
}

func startChineseCheckers(game *Game, setup *Setup, position *Position) Rules {
	seats, size := or(setup.Seats, 2), or(setup.Size, 4)
	colours := []string{"red", "yellow", "green", "blue", "purple", "orange"}
	game.begin(boardOf("star", size), colours[:seats]...)
	game.turnsMax = or(setup.MaxTurns, 1000)
	star := &ChineseCheckers{Game: game, Passes: position.Passes}
	usual := [][]Cell{}
	used := map[int][]int{2: {0, 3}, 3: {0, 2, 4}, 4: {1, 2, 4, 5}, 6: {0, 1, 2, 3, 4, 5}}
	for _, point := range used[seats] {
		start, target, neutral := []Cell{}, []Cell{}, []Cell{}
		for _, cell := range game.Cells {
			place := game.board.places[cell]
			a, b := place.A, place.B
			for other, far := range [6]int{-a, b, a + b, a, -b, -a - b} {
				if far <= size {
					continue
				} else if other == point {
					start = append(start, cell)
				} else if other%3 == point%3 {
					target = append(target, cell)
				} else {
					neutral = append(neutral, cell)
				}
			}
		}
		usual = append(usual, start)
		star.Starts = append(star.Starts, set(start))
		star.Targets = append(star.Targets, set(target))
		star.Neutral = append(star.Neutral, set(neutral))
	}
	game.place(position.Marbles, usual)
	return star
}

func (c *ChineseCheckers) copyTo(game *Game) Rules {
	next := *c
	next.Game = game
	return &next
}

func (c *ChineseCheckers) actions() []Action {
	noEnd, noLanding := c.Neutral[c.ToMove], map[Cell]bool{}
	switch c.Setup.Neutral {
	case "free":
		noEnd = noLanding
	case "closed":
		noLanding = noEnd
	}
	actions := c.moves(c.Setup.Jumps != "adjacent", noLanding, noEnd)
	if len(actions) == 0 {
		actions = append(actions, Action{Type: "pass"})
	}
	return actions
}

func (c *ChineseCheckers) apply(action Action) {
	c.Passes++
	if action.Type == "move" {
		c.movePiece(action.Start(), action.End())
		c.Passes = 0
	}
}

// left returns the active seats, in the order of play from the one to move.
func (c *ChineseCheckers) left() []int {
	left := []int{}
	for n := range c.Seats {
		if seat := (c.ToMove + n) % len(c.Seats); !c.Retired[seat] {
			left = append(left, seat)
		}
	}
	return left
}

func (c *ChineseCheckers) retiring(seat int) {
	// A pass of a seat that is out no longer counts among those in a row.
	left := c.left()
	counted := left[max(0, len(left)-c.Passes):]
	for _, other := range counted {
		if other == seat && seat != c.ToMove {
			c.Passes--
		}
	}
}

// IsHome returns whether a seat has brought its marbles home.
func (c *ChineseCheckers) IsHome(seat int) bool {
	target, inside, outside, filled, counted := c.Targets[seat], 0, 0, 0, 0
	for cell, owner := range c.Pieces {
		if target[cell] {
			filled++
			if owner == seat {
				inside++
			}
			if owner == seat || c.Retired[owner] {
				counted++
			}
		} else if owner == seat {
			outside++
		}
	}
	if c.Retired[seat] || inside == 0 {
		return false
	}
	if c.Setup.Win == "filled" {
		return filled == len(target)
	}
	return outside == 0 || counted == len(target)
}

func (c *ChineseCheckers) ending() *Ending {
	left := c.left()
	for n := range left { // The last mover is checked first.
		if seat := left[(n+len(left)-1)%len(left)]; c.IsHome(seat) {
			return &Ending{seat, "home"}
		}
	}
	if c.Passes >= len(left) {
		return &Ending{Nobody, "no_moves"}
	}
	if c.Turn >= c.turnsMax {
		return &Ending{Nobody, "turn_limit"}
	}
	return nil
}

// Distance returns the number of steps between two cells of an empty board.
func (c *ChineseCheckers) Distance(cell, other Cell) int {
	from, to := c.board.places[cell], c.board.places[other]
	a, b := from.A-to.A, from.B-to.B
	return max(a, b, a+b, -a, -b, -a-b)
}
