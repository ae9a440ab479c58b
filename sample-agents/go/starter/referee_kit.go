package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"os"
	"sort"
	"strings"
)

// Random has numbers that repeat when the match is played again with the same seed.
var Random = rand.New(rand.NewSource(0))

// Choice returns one of these, at random.
func Choice[Item any](list []Item) Item {
	return list[Random.Intn(len(list))]
}

var (
	out     *os.File
	isAsked bool
)

// incoming has the fields of all messages from the referee.
type incoming struct {
	Type   string          `json:"type"`
	Game   string          `json:"game"`
	Setup  json.RawMessage `json:"setup"`
	Seat   int             `json:"seat"`
	Seats  []Seat          `json:"seats"`
	Clock  map[string]any  `json:"clock"`
	Seed   int64           `json:"seed"`
	Turn   int             `json:"turn"`
	LeftMs *int64          `json:"left_ms"`
	Action Action          `json:"action"`
}

// Run plays a match. want: which of "position" and "actions" to include in game.Message.
func Run(choose func(game *Game) *Action, name string, want ...string) {
	// All other output goes to stderr, and nothing else can read what the referee sends.
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 2<<20) // A line from the referee is never longer than 1 MiB.
	out, os.Stdout = os.Stdout, os.Stderr
	os.Stdin, _ = os.Open(os.DevNull)
	isDone := false
	defer func() {
		if !isDone { // There is a panic, which prints its reason and the stack after this.
			fmt.Fprintf(os.Stderr, "the bot failed; its last message: %s\n", lines.Bytes())
		}
	}()
	var game *Game
	for lines.Scan() {
		if len(strings.TrimSpace(lines.Text())) == 0 {
			continue
		}
		message := read(lines.Bytes())
		switch message.Type {
		case "hello":
			Random.Seed(message.Seed)
			game = begin(message)
			say(map[string]any{"type": "ready", "name": name, "want": append([]string{}, want...)})
		case "turn":
			asked := game.Copy()
			asked.Message = append([]byte{}, lines.Bytes()...)
			asked.LeftMs = message.LeftMs
			answer(choose, asked, message.Turn)
		case "played":
			game.Play(message.Action)
		case "retired":
			if len(game.Seats) > 2 {
				game.Retire(message.Seat)
			}
		case "over":
			isDone = true
			return
		}
	}
	must(lines.Err())
	isDone = true
}

// Log prints to stderr, which the transcript keeps with the turn.
func Log(values ...any) {
	fmt.Fprintln(os.Stderr, values...)
}

// Info shows viewers what you think; call it in choose. Usual fields are "score", "depth" and
// "text"; cells, which may be nil, are marks.
func Info(fields map[string]any, cells map[Cell]string) {
	message := map[string]any{"type": "info"}
	for name, field := range fields {
		number, isFloat := field.(float64)
		if isFloat && (math.IsInf(number, 0) || math.IsNaN(number)) {
			field = fmt.Sprint(number) // JSON has no infinity.
		}
		message[name] = field
	}
	if cells != nil {
		marks := []map[string]any{}
		for at, label := range cells {
			marks = append(marks, map[string]any{"at": at, "label": label})
		}
		sort.Slice(marks, func(i, j int) bool {
			return marks[i]["at"].(Cell).less(marks[j]["at"].(Cell))
		})
		message["cells"] = marks
	}
	if isAsked {
		say(message)
	}
}

// read reads a message. Of an unknown type only the type: its fields can be anything.
func read(line []byte) incoming {
	var message incoming
	var only struct {
		Type string `json:"type"`
	}
	must(json.Unmarshal(line, &only))
	switch only.Type {
	case "hello", "turn", "played", "retired", "over":
		must(json.Unmarshal(line, &message))
	}
	return message
}

func begin(hello incoming) *Game {
	game, err := NewGame(hello.Game, string(hello.Setup))
	must(err)
	game.Seat, game.Seats, game.Clock = hello.Seat, hello.Seats, hello.Clock
	return game
}

func answer(choose func(game *Game) *Action, asked *Game, turn int) {
	isAsked = true
	action := choose(asked)
	isAsked = false
	if action == nil {
		say(map[string]any{"type": "resign", "turn": turn})
	} else {
		say(map[string]any{"type": "action", "turn": turn, "action": action})
	}
}

// say writes one message, one line, without a buffer that would have to be flushed.
func say(message any) {
	must(json.NewEncoder(out).Encode(message))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
