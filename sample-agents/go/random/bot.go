// Plays any game: picks one of the legal actions that the referee lists.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"math/rand"
	"os"
)

// Hello begins a match: which game this is, and which seat is yours.
type Hello struct {
	Game  string          `json:"game"`
	Setup json.RawMessage `json:"setup"`
	Seat  int             `json:"seat"`
	Seed  int64           `json:"seed"`
}

// Turn asks for an action. LeftMs is nil without a bank of time.
type Turn struct {
	Turn     int               `json:"turn"`
	LeftMs   *int64            `json:"left_ms"`
	Position json.RawMessage   `json:"position"`
	Actions  []json.RawMessage `json:"actions"`
}

// Ready answers Hello, and says what to put into every Turn.
type Ready struct {
	Type string   `json:"type"`
	Name string   `json:"name"`
	Want []string `json:"want"`
}

// Answer answers Turn.
type Answer struct {
	Type   string          `json:"type"`
	Turn   int             `json:"turn"`
	Action json.RawMessage `json:"action"`
}

// choose is where your rule goes. The position is the board, and the actions are all that is legal
// now: return one of them. To look into them, unmarshal them into structs of your game.
func choose(hello Hello, turn Turn, random *rand.Rand) json.RawMessage {
	return turn.Actions[random.Intn(len(turn.Actions))]
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 2<<20) // a line from the referee is never longer than 1 MiB
	var hello Hello
	var random *rand.Rand
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var message struct {
			Type string `json:"type"`
		}
		read(lines.Bytes(), &message)
		switch message.Type {
		case "hello":
			read(lines.Bytes(), &hello)
			random = rand.New(rand.NewSource(hello.Seed))
			say(Ready{"ready", "random (Go)", []string{"position", "actions"}})
		case "turn":
			var turn Turn
			read(lines.Bytes(), &turn)
			say(Answer{"action", turn.Turn, choose(hello, turn, random)})
		case "over":
			return
		}
		// "played" and "retired" report what the others did, for a rule that keeps a board.
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
}

func read(line []byte, message any) {
	if err := json.Unmarshal(line, message); err != nil {
		log.Fatal(err)
	}
}

// say writes one message, one line, without a buffer that would have to be flushed. Nothing else
// may go to stdout: debug with log, which writes to stderr.
func say(message any) {
	if err := json.NewEncoder(os.Stdout).Encode(message); err != nil {
		log.Fatal(err)
	}
}
