//! Estimates are good enough for simple agents: looking one action ahead with them beats chance, and
//! looking two ahead beats that.

use referee_games::chexers::{self, Chexers};
use referee_games::freckers::{self, Freckers};
use referee_games::{Game, Turn};
use referee_protocol::Seat;

/// How a player of these tests picks its action.
#[derive(Clone, Copy, PartialEq)]
enum Player {
    Random,
    /// The best estimate after its own action.
    Greedy,
    /// The best estimate after the other seat's best answer.
    TwoAhead,
}

use Player::{Greedy, Random, TwoAhead};

#[test]
fn greedy_freckers_beats_chance() {
    let won = freckers_won(Greedy, Random, 30, 1);
    assert!(won >= 27, "{won} of 30");
}

#[test]
#[ignore = "takes long without optimisation: cargo test --release -p referee-games -- --ignored"]
fn two_ahead_beats_greedy_freckers() {
    let won = freckers_won(TwoAhead, Greedy, 100, 2);
    assert!(won >= 60, "{won} of 100");
}

#[test]
fn greedy_chexers_comes_first_against_two_by_chance() {
    let mut won = 0;
    for number in 0..60 {
        let mut players = [Random; 3];
        players[number % 3] = Greedy;
        let game = Chexers::start(chexers::Setup::default()).unwrap();
        let places = play(game, &players, number as u64);
        won += u32::from(places[number % 3] == 1 && places.contains(&2));
    }
    assert!(won >= 54, "{won} of 60");
}

/// How many of the games the first player wins, from either seat in turn.
fn freckers_won(first: Player, second: Player, games: u64, seed: u64) -> u64 {
    let won = |number: u64| {
        let swapped = number % 2 == 1;
        let players = if swapped { [second, first] } else { [first, second] };
        let game = Freckers::start(freckers::Setup::default()).unwrap();
        let places = play(game, &players, seed << 32 | number);
        u64::from(places[usize::from(swapped)] == 1 && places.contains(&2))
    };
    (0..games).map(won).sum()
}

fn play<G: Game>(mut game: G, players: &[Player], seed: u64) -> Vec<u32> {
    let mut random = crate::Random(seed);
    loop {
        let seat = match game.turn() {
            Turn::Of(seat) => seat,
            Turn::Chance(_) => panic!("no built-in game has chance"),
            Turn::Over(outcome) => return outcome.places,
        };
        let actions = game.actions();
        let worth = |action: &G::Action| match players[seat.index()] {
            Random => 0,
            Greedy => worth_after(&after(&game, action), seat),
            TwoAhead => {
                let next = after(&game, action);
                let answers = next.actions();
                let worths = answers.iter().map(|answer| worth_after(&after(&next, answer), seat));
                worths.min().unwrap_or_else(|| worth_after(&next, seat))
            }
        };
        let worths: Vec<i64> = actions.iter().map(worth).collect();
        let most = worths.iter().max().unwrap();
        let best: Vec<&G::Action> = actions
            .iter()
            .zip(&worths)
            .filter(|(_, worth)| *worth == most)
            .map(|(a, _)| a)
            .collect();
        let chosen = best[random.below(best.len())].clone();
        game.play_listed(&chosen);
    }
}

fn after<G: Game>(game: &G, action: &G::Action) -> G {
    let mut next = game.clone();
    next.play_listed(action);
    next
}

/// The estimate, or at the end what the end is worth.
fn worth_after<G: Game>(game: &G, seat: Seat) -> i64 {
    match game.turn() {
        Turn::Of(_) | Turn::Chance(_) => game.estimate(seat),
        Turn::Over(outcome) if !outcome.places.contains(&2) => 0,
        Turn::Over(outcome) if outcome.places[seat.index()] == 1 => 1_000_000_000,
        Turn::Over(_) => -1_000_000_000,
    }
}
