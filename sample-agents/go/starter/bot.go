// A bot for Referee: wins if it can, else plays any legal action. Change choose to make it yours.
package main

// choose returns an action when it is your turn, or nil to resign.
func choose(game *Game) *Action {
	// >>> Your idea goes here. Some of what the kit offers (see game.go):
	//
	//   game.Actions()            every legal action
	//   game.After(action)        a copy of the game with the action played
	//   game.IsOver()             and game.Winner(): the seat that has won, or Nobody
	//   game.Seat, game.Seats     your seat, and everyone's name and colour
	//   game.Turn, game.LeftMs    the number of the turn, your milliseconds left
	//   game.Pieces               the seat of the piece on each cell; game.PiecesOf(game.Seat)
	//   game.Neighbours(cell)     the cells beside it
	//
	// What only one game has: if hex, ok := game.Rules.(*Hex); ok { hex.Borders(game.Seat) .. }
	actions := game.Actions()
	for _, action := range actions {
		if game.After(action).Winner() == game.Seat {
			return &action
		}
	}
	action := Choice(actions)
	return &action
}

func main() {
	Run(choose, "bot")
}
