package main

import "encoding/json"

// CheckerPuzzle has the cells that the pieces have to fill.
type CheckerPuzzle struct {
	*Game
	Goal map[Cell]bool
}

func startCheckerPuzzle(game *Game, setup *Setup, position *Position) Rules {
	size, depth := or(setup.Size, 4), or(setup.Depth, 3)
	game.begin(boardOf("diamond", size), "peg")
	game.turnsMax = or(setup.MaxMoves, 200)
	puzzle := &CheckerPuzzle{game, map[Cell]bool{}}
	pieces := []Cell{}
	for _, cell := range game.Cells {
		if cell.A+cell.B < depth {
			puzzle.Goal[cell] = true
		}
		if 2*size-2-cell.A-cell.B < depth {
			pieces = append(pieces, cell)
		}
	}
	if position.Pieces != nil {
		must(json.Unmarshal(position.Pieces, &pieces))
	}
	game.place([][]Cell{pieces}, nil)
	return puzzle
}

func (p *CheckerPuzzle) copyTo(game *Game) Rules { return &CheckerPuzzle{game, p.Goal} }
func (p *CheckerPuzzle) actions() []Action       { return p.moves(false, nil, nil) }
func (p *CheckerPuzzle) apply(action Action)     { p.movePiece(action.Start(), action.End()) }

func (p *CheckerPuzzle) ending() *Ending {
	missing := 0
	for cell := range p.Goal {
		if !p.Has(cell) {
			missing++
		}
	}
	if missing == 0 {
		return &Ending{0, "solved"}
	}
	if p.Turn >= p.turnsMax {
		return &Ending{Nobody, "move_limit"}
	}
	return nil
}

// PegSolitaire has the cells that were without a peg at the start.
type PegSolitaire struct {
	*Game
	Open []Cell
}

func startPegSolitaire(game *Game, setup *Setup, position *Position) Rules {
	shape, size := or(setup.Shape, "triangle"), or(setup.Size, 6)
	if shape == "triangle" {
		size = or(setup.Size, 5)
	}
	game.begin(boardOf(shape, size), "peg")
	middle := Cell{(size - 1) / 2, (size - 1) / 2}
	if shape == "triangle" {
		middle = Cell{2 * (size - 1) / 3, (size - 1) / 3}
	}
	open := append([]Cell{}, setup.Open...)
	if setup.Open == nil {
		open = []Cell{middle}
	}
	pegs := []Cell{}
	for _, cell := range game.Cells {
		if !set(open)[cell] {
			pegs = append(pegs, cell)
		}
	}
	if position.Pegs != nil {
		pegs = position.Pegs
	}
	game.place([][]Cell{pegs}, nil)
	return &PegSolitaire{game, sorted(open)}
}

func (p *PegSolitaire) copyTo(game *Game) Rules { return &PegSolitaire{game, p.Open} }

func (p *PegSolitaire) actions() []Action {
	actions := []Action{}
	for _, cell := range p.PiecesOf(0) {
		for _, jump := range p.jumps(cell) {
			actions = append(actions, fromTo("jump", cell, jump.to))
		}
	}
	return actions
}

func (p *PegSolitaire) apply(action Action) {
	delete(p.Pieces, p.jumped(*action.From, *action.To))
	p.movePiece(*action.From, *action.To)
}

func (p *PegSolitaire) ending() *Ending {
	if len(p.actions()) > 0 {
		return nil
	}
	if len(p.Pieces) == 1 && (p.Setup.Finish != "start" || p.Has(p.Open[0])) {
		return &Ending{0, "solved"}
	}
	return &Ending{Nobody, "stuck"}
}
