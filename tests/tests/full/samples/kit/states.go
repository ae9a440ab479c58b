// Plays the events on stdin with the Go kit and prints the states; see agents/kits.rs.
package main

import (
	"bufio"
	"encoding/json"
	"os"
)

type object = map[string]any

func lists(game *Game) [][]Cell {
	lists := [][]Cell{}
	for seat := range game.Seats {
		lists = append(lists, game.PiecesOf(seat))
	}
	return lists
}

// position returns the position in the protocol's form, made from the kit's public fields.
func position(game *Game) object {
	setup := game.Setup
	fields := object{"turn": game.Turn, "to_move": game.ToMove}
	if len(game.Seats) > 2 {
		retired := []int{}
		for seat := range game.Seats {
			if game.Retired[seat] {
				retired = append(retired, seat)
			}
		}
		fields["retired"] = retired
	}
	switch rules := game.Rules.(type) {
	case *Hex:
		black := 0
		if game.Colour(1) == "black" {
			black = 1
		}
		fields["size"] = rules.Size
		fields["colours"] = []string{game.Colour(0), game.Colour(1)}
		fields["stones"] = [][]Cell{game.PiecesOf(black), game.PiecesOf(1 - black)}
	case *Chexers:
		fields["pieces"], fields["exits"] = lists(game), rules.Exits
	case *Freckers:
		pads := []Cell{}
		for _, cell := range game.Cells {
			if rules.Pads[cell] {
				pads = append(pads, cell)
			}
		}
		fields["frogs"], fields["pads"] = lists(game), pads
	case *ChineseCheckers:
		fields["marbles"], fields["passes"] = lists(game), rules.Passes
	case *CheckerPuzzle:
		pieces := game.PiecesOf(0)
		return object{"size": setup.Size, "depth": setup.Depth, "moves": game.Turn, "pieces": pieces}
	case *PegSolitaire:
		pegs := game.PiecesOf(0)
		return object{"shape": setup.Shape, "size": setup.Size, "moves": game.Turn, "pegs": pegs,
			"open": rules.Open}
	}
	return fields
}

// outcome returns how the game ended, in the protocol's form.
func outcome(game *Game) object {
	ending := game.Ending()
	if ending == nil {
		return nil
	}
	places := []int{}
	for seat := range game.Seats {
		place := 2
		if game.Winner() == seat || game.Winner() == Nobody && len(game.Seats) > 1 {
			place = 1
		}
		places = append(places, place)
	}
	fields := object{"places": places, "reason": ending.Reason}
	switch rules := game.Rules.(type) {
	case *Chexers:
		fields["scores"] = rules.Exits
	case *Freckers:
		fields["scores"] = []int{rules.Across(0), rules.Across(1)}
	case *CheckerPuzzle:
		fields["scores"] = []int{game.Turn}
	case *PegSolitaire:
		fields["scores"] = []int{len(game.Pieces)}
	}
	return fields
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 2<<20)
	out := json.NewEncoder(os.Stdout)
	var game *Game
	for lines.Scan() {
		var event struct {
			Game    string
			Setup   json.RawMessage
			Played  *Action
			Retired *int
			Tried   *Action
			State   bool
		}
		must(json.Unmarshal(lines.Bytes(), &event))
		shown := game
		switch {
		case event.Game != "":
			started, err := NewGame(event.Game, string(event.Setup))
			must(err)
			game = started
		case event.Played != nil:
			game.Play(*event.Played)
		case event.Retired != nil:
			game.Retire(*event.Retired)
		case event.Tried != nil:
			shown = game.After(*event.Tried)
		}
		if event.State || event.Tried != nil {
			must(out.Encode(object{"position": position(shown), "actions": shown.Actions(),
				"outcome": outcome(shown)}))
		}
	}
}
