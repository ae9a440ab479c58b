package main

import "encoding/json"

// Setup has the settings of every game; those that the referee's hello leaves out are zero.
type Setup struct {
	Size         int       `json:"size"`
	First        string    `json:"first"`
	Swap         string    `json:"swap"`
	Exits        int       `json:"exits"`
	TurnsPerSeat int       `json:"turns_per_seat"`
	Repetitions  int       `json:"repetitions"`
	Landing      string    `json:"landing"`
	TurnLimit    int       `json:"turn_limit"`
	Seats        int       `json:"seats"`
	Jumps        string    `json:"jumps"`
	Neutral      string    `json:"neutral"`
	Win          string    `json:"win"`
	MaxTurns     int       `json:"max_turns"`
	Depth        int       `json:"depth"`
	MaxMoves     int       `json:"max_moves"`
	Shape        string    `json:"shape"`
	Open         []Cell    `json:"open"`
	Finish       string    `json:"finish"`
	Position     *Position `json:"position"`
}

// Position has the fields of every game's position.
type Position struct {
	Turn    int             `json:"turn"`
	Moves   int             `json:"moves"`
	ToMove  int             `json:"to_move"`
	Retired []int           `json:"retired"`
	Stones  [][]Cell        `json:"stones"`
	Colours []string        `json:"colours"`
	Pieces  json.RawMessage `json:"pieces"`
	Exits   []int           `json:"exits"`
	Frogs   [][]Cell        `json:"frogs"`
	Pads    []Cell          `json:"pads"`
	Marbles [][]Cell        `json:"marbles"`
	Passes  int             `json:"passes"`
	Pegs    []Cell          `json:"pegs"`
}

var starts = map[string]func(game *Game, setup *Setup, position *Position) Rules{
	"hex":              startHex,
	"chexers":          startChexers,
	"freckers":         startFreckers,
	"chinese-checkers": startChineseCheckers,
	"checker-puzzle":   startCheckerPuzzle,
	"peg-solitaire":    startPegSolitaire,
}

// or returns a setting, or the usual one.
func or[Setting comparable](given, usual Setting) Setting {
	var none Setting
	if given == none {
		return usual
	}
	return given
}
