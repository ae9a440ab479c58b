package main

import (
	"encoding/json"
	"reflect"
)

// Chexers has the number of each seat's exits.
type Chexers struct {
	*Game
	Exits [3]int
	past  *past
}

// past is a position since the last exit, and how often it had occurred then.
type past struct {
	pieces        map[Cell]int
	toMove, count int
	before        *past
}

func startChexers(game *Game, setup *Setup, position *Position) Rules {
	chexers := &Chexers{Game: game}
	game.begin(boardOf("hexagon", 3), "red", "green", "blue")
	var pieces [][]Cell
	if position.Pieces != nil {
		must(json.Unmarshal(position.Pieces, &pieces))
	}
	game.place(pieces, [][]Cell{chexers.edge(0), chexers.edge(1), chexers.edge(2)})
	copy(chexers.Exits[:], position.Exits)
	game.turnsMax = 3 * or(setup.TurnsPerSeat, 256)
	chexers.turnEnded()
	return chexers
}

func (c *Chexers) copyTo(game *Game) Rules {
	next := *c
	next.Game = game
	return &next
}

// towards returns how far a cell is towards an edge: the starts of red, green and blue, then the
// exits.
func towards(cell Cell, edge int) int {
	q, r := cell.Q(), cell.R()
	return [6]int{-q, -r, q + r, q, r, -q - r}[edge]
}

func (c *Chexers) edge(edge int) []Cell {
	found := []Cell{}
	for _, cell := range c.Cells {
		if towards(cell, edge) == 3 {
			found = append(found, cell)
		}
	}
	return found
}

// ExitCells returns where a seat may leave the board.
func (c *Chexers) ExitCells(seat int) []Cell { return c.edge(seat + 3) }

func (c *Chexers) actions() []Action {
	exits, moves, jumps := []Action{}, []Action{}, []Action{}
	for _, cell := range c.PiecesOf(c.ToMove) {
		cell := cell
		if towards(cell, c.ToMove+3) == 3 {
			exits = append(exits, Action{Type: "exit", From: &cell})
		}
		for _, to := range c.Neighbours(cell) {
			if !c.Has(to) {
				moves = append(moves, fromTo("move", cell, to))
			}
		}
		for _, jump := range c.jumps(cell) {
			jumps = append(jumps, fromTo("jump", cell, jump.to))
		}
	}
	actions := append(append(exits, moves...), jumps...)
	if len(actions) == 0 {
		actions = append(actions, Action{Type: "pass"})
	}
	return actions
}

func (c *Chexers) apply(action Action) {
	switch action.Type {
	case "jump":
		c.Pieces[c.jumped(*action.From, *action.To)] = c.ToMove
		c.movePiece(*action.From, *action.To)
	case "move":
		c.movePiece(*action.From, *action.To)
	case "exit":
		c.Exits[c.ToMove]++
		c.past = nil // Positions before an exit can't recur.
		delete(c.Pieces, *action.From)
	}
}

func (c *Chexers) turnEnded() {
	count := 1
	for past := c.past; past != nil; past = past.before {
		if past.toMove == c.ToMove && reflect.DeepEqual(past.pieces, c.Pieces) {
			count += past.count
			break
		}
	}
	c.past = &past{copyMap(c.Pieces), c.ToMove, count, c.past}
}

func (c *Chexers) ending() *Ending {
	for seat, exits := range c.Exits {
		if exits >= or(c.Setup.Exits, 4) {
			return &Ending{seat, "four_exits"}
		}
	}
	if c.past.count >= or(c.Setup.Repetitions, 4) {
		return &Ending{Nobody, "repetition"}
	}
	if c.Turn >= c.turnsMax {
		return &Ending{Nobody, "turn_limit"}
	}
	return nil
}
