// A bot on the Go kit that makes a mistake of students' bots; see agents/kits.rs.
package main

import (
	"fmt"
	"math"
	"os"
)

func choose(game *Game) *Action {
	mode, actions := os.Args[1], game.Actions()
	isSecondTurn := game.Turn >= len(game.Seats)
	cells := map[Cell]string{{0, 0}: "0.5"}
	Info(map[string]any{"score": math.Inf(-1), "text": "n\u00e4her"}, cells)
	if mode == "noisy" {
		fmt.Println("a stray print")
	}
	if mode == "fails" && isSecondTurn {
		return &actions[len(actions)] // here
	}
	if mode == "resigns" && isSecondTurn {
		return nil
	}
	return &actions[0]
}

func main() {
	Run(choose, "behaviour")
}
