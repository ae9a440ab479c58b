//! How often 95 % intervals of ratings hold the truth, in simulated contests with known strengths.
//!
//! usage: cargo run --release -p referee-contest --example coverage [CONTESTS [DESIGN]]
//!
//! Pairings come from the real formats, strengths are drawn anew for each contest, and results are drawn from
//! the model that the ratings fit. The truth is centred as the ratings are: on the players that
//! `Ratings::centre` lists. Prints a Markdown table, the one of
//! docs/decisions/0009-one-joint-fit.md.

#![expect(clippy::cast_precision_loss, reason = "small counts")]
#![expect(clippy::print_stdout, reason = "a program that prints a table")]

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use referee_contest::formats::{Gauntlet, Ladder, RoundRobin, Swiss};
use referee_contest::ratings::{RatedGames, Rating, RatingField, Ratings, rate};
use referee_contest::{
    Contest, FormatSettings, Player, PlayerInfo, Record, Schedule, SeatOrders, SeatRecord,
};
use referee_protocol::MatchResult;
use std::f64::consts::LN_10;
use std::sync::Arc;

/// Elo points per unit of the logarithm of odds.
const ELO: f64 = 400.0 / LN_10;

/// What the games of a block have in common.
#[derive(Clone, Copy, PartialEq)]
enum Blocks {
    /// Nothing: games are independent.
    Independent,
    /// In so many blocks of 100 the same luck helps the same players in all games.
    SamePlayers(f64),
    /// The same luck helps the same seats: openings decide, and pairs end 1-1.
    SameSeats(f64),
}

/// A kind of contest.
struct Design {
    name: &'static str,
    format: FormatSettings,
    players: usize,
    seats: usize,
    rounds: u32,
    /// The standard deviation of strengths, in Elo.
    spread: f64,
    /// Added to the strength of the first player, in Elo.
    first: f64,
    /// How likely one shared place is between equals, against one player's place.
    tie: f64,
    blocks: Blocks,
}

fn designs() -> Vec<Design> {
    let round_robin = || FormatSettings::RoundRobin(RoundRobin::default());
    let design = |name, players, rounds, spread| Design {
        name,
        format: round_robin(),
        players,
        seats: 2,
        rounds,
        spread,
        first: 0.0,
        tie: 0.0,
        blocks: Blocks::Independent,
    };
    vec![
        design("round robin", 8, 8, 150.0),
        design("two players", 2, 30, 150.0),
        design("ten blocks a player", 6, 2, 150.0),
        Design { tie: 2.0, ..design("half of the games drawn", 7, 5, 150.0) },
        Design { first: 800.0, ..design("one player at +800", 6, 20, 80.0) },
        Design { first: 800.0, ..design("one at +800, ten blocks", 6, 2, 80.0) },
        Design { first: -800.0, tie: 0.5, ..design("one at -800, draws", 6, 10, 80.0) },
        design("many win or lose all", 8, 1, 500.0),
        Design { seats: 3, tie: 0.2, ..design("three seats, ties", 6, 2, 150.0) },
        Design { seats: 3, first: 800.0, ..design("three seats, one at +800", 5, 3, 80.0) },
        Design {
            format: FormatSettings::Swiss(Swiss {}),
            tie: 0.3,
            ..design("Swiss", 16, 9, 250.0)
        },
        Design { format: FormatSettings::Ladder(Ladder {}), ..design("ladder", 16, 20, 250.0) },
        Design {
            format: FormatSettings::Ladder(Ladder {}),
            ..design("long ladder", 16, 50, 250.0)
        },
        Design {
            format: FormatSettings::Ladder(Ladder {}),
            seats: 3,
            ..design("ladder, three seats", 12, 10, 250.0)
        },
        Design {
            format: FormatSettings::Gauntlet(Gauntlet { challengers: 1 }),
            first: 100.0,
            ..design("gauntlet", 9, 12, 150.0)
        },
        Design {
            blocks: Blocks::SamePlayers(70.0),
            ..design("blocks alike: the same player wins both games", 6, 8, 150.0)
        },
        Design {
            blocks: Blocks::SamePlayers(100.0),
            seats: 3,
            ..design("the same with three seats", 5, 3, 150.0)
        },
        Design {
            blocks: Blocks::SameSeats(80.0),
            ..design("openings decide: the same seat wins both games", 6, 8, 150.0)
        },
    ]
}

impl Design {
    fn contest(&self, seed: u64) -> Arc<Contest> {
        let game = referee_games::kind("hex").expect("a game of the registry");
        let game = game.start(&serde_json::json!({})).expect("its default setup");
        let player = |player: Player| PlayerInfo {
            name: format!("player {}", player.0),
            run: String::new(),
            digest: String::new(),
        };
        let players = Player::all(self.players).map(player).collect();
        let mut contest = Contest::series(&*game, players, 2, seed);
        contest.format = self.format.clone();
        contest.rounds = self.rounds;
        contest.seat_orders = SeatOrders::All;
        contest.games[0].seats = self.seats;
        Arc::new(contest)
    }

    /// Draws strengths, in Elo.
    fn strengths(&self, random: &mut ChaCha8Rng) -> Vec<f64> {
        // The sum of twelve uniform numbers is about normal, with variance 1.
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let mut strengths: Vec<f64> = (0..self.players).map(|_| self.spread * normal()).collect();
        strengths[0] += self.first;
        strengths
    }

    /// Plays all games of a contest.
    fn play(&self, strengths: &[f64], contest: &Arc<Contest>, seed: u64) -> Vec<Record> {
        let mut schedule = Schedule::new(Arc::clone(contest));
        let mut records = Vec::new();
        while let Some(fixture) = schedule.fixture(records.len() as u64) {
            let number = fixture.number;
            let random = |salt: u64, stream: u64| {
                let mut random = ChaCha8Rng::seed_from_u64(seed ^ (salt << 32));
                random.set_stream(stream);
                random
            };
            let (share, by_player) = match self.blocks {
                Blocks::Independent => (0.0, false),
                Blocks::SamePlayers(share) => (share, true),
                Blocks::SameSeats(share) => (share, false),
            };
            let mut luck = random(1, fixture.block);
            if luck.random::<f64>() * 100.0 >= share {
                luck = random(2, number);
            }
            let places = self.places(strengths, &fixture.players, by_player, &mut luck);
            schedule.record(number, &places);
            records.push(record(number, fixture.block, fixture.players, places));
        }
        records
    }

    /// Draws the places of the seats: each place goes to a player, or is shared by two, in proportion to
    /// their worth. Equal luck helps the same players, or the same seats.
    fn places(
        &self,
        strengths: &[f64],
        players: &[Player],
        by_player: bool,
        luck: &mut ChaCha8Rng,
    ) -> Vec<u32> {
        let worth = |seat: usize| {
            let advantage = if seat == 0 { 30.0 } else { -30.0 / (self.seats as f64 - 1.0) };
            let advantage = if self.blocks == Blocks::Independent { advantage } else { 0.0 };
            ((strengths[players[seat].index()] + advantage) / ELO).exp()
        };
        let mut left: Vec<usize> = (0..players.len()).collect();
        if by_player {
            left.sort_by_key(|&seat| players[seat]);
        }
        let mut places = vec![0; players.len()];
        let mut place = 1;
        while !left.is_empty() {
            let mut options: Vec<(Vec<usize>, f64)> = Vec::new();
            for (index, &seat) in left.iter().enumerate() {
                options.push((vec![seat], worth(seat)));
                for &other in left[index + 1..].iter().filter(|_| self.tie > 0.0) {
                    let shared = self.tie * (worth(seat) * worth(other)).sqrt();
                    options.push((vec![seat, other], shared));
                }
            }
            let mut rest = luck.random::<f64>() * options.iter().map(|one| one.1).sum::<f64>();
            let chosen = options.iter().position(|one| {
                rest -= one.1;
                rest < 0.0
            });
            let (chosen, _) = &options[chosen.unwrap_or(0)];
            for &seat in chosen {
                places[seat] = place;
            }
            place += u32::try_from(chosen.len()).expect("few seats");
            left.retain(|seat| !chosen.contains(seat));
        }
        places
    }
}

fn record(number: u64, block: u64, players: Vec<Player>, places: Vec<u32>) -> Record {
    Record {
        number,
        block,
        round: 1,
        game: 0,
        match_id: String::new(),
        seed: 0,
        result: MatchResult::Played,
        reason: String::new(),
        scores: None,
        seats: vec![SeatRecord::default(); players.len()],
        turns: 1,
        lag_ns: 0,
        marked: false,
        moves: number.to_string(),
        transcript: String::new(),
        seal: String::new(),
        players,
        places,
    }
}

/// Counts of intervals.
#[derive(Default)]
struct Tally {
    all: u32,
    /// Those whose lower end is above the truth.
    above: u32,
    /// Those whose upper end is below the truth.
    below: u32,
    /// Those without an end on one side, or on both.
    open: u32,
}

impl Tally {
    fn add(&mut self, truth: f64, rating: &Rating) {
        self.all += 1;
        self.above += u32::from(rating.low.is_some_and(|low| low > truth));
        self.below += u32::from(rating.high.is_some_and(|high| high < truth));
        self.open += u32::from(rating.low.is_none() || rating.high.is_none());
    }

    fn held(&self) -> f64 {
        percent(self.all - self.above - self.below, self.all)
    }
}

fn percent(count: u32, of: u32) -> f64 {
    100.0 * f64::from(count) / f64::from(of.max(1))
}

/// What the contests of a design gave.
#[derive(Default)]
struct Study {
    contests: u32,
    blocks: u64,
    all: Tally,
    /// The first player alone.
    first: Tally,
}

impl Study {
    fn of(design: &Design, contests: u32) -> Self {
        let mut study = Self { contests, ..Self::default() };
        for seed in 0..u64::from(contests) {
            let strengths = design.strengths(&mut ChaCha8Rng::seed_from_u64(seed));
            let contest = design.contest(seed);
            let records = design.play(&strengths, &contest, seed);
            let ratings = rate(&RatedGames::of(&RatingField::of(&contest), &records));
            study.blocks += ratings.blocks;
            for rating in &ratings.players {
                let truth = strengths[rating.player.index()] - centre(&ratings, rating, &strengths);
                study.all.add(truth, rating);
                if rating.player == Player(0) {
                    study.first.add(truth, rating);
                }
            }
        }
        study
    }

    fn row(&self, design: &Design) -> String {
        let seated = self.blocks as f64 * design.seats as f64;
        let all = &self.all;
        format!(
            "| {} | {}, {}, {:.0} | {:.1} % | {:.1} %, {:.1} % | {:.1} % | {:.1} % |",
            design.name,
            design.players,
            design.seats,
            seated / f64::from(self.contests) / design.players as f64,
            all.held(),
            percent(all.above, all.all),
            percent(all.below, all.all),
            self.first.held(),
            percent(all.open, all.all),
        )
    }
}

/// Returns the mean strength of the players whose mean rating is 0.
fn centre(ratings: &Ratings, rating: &Rating, strengths: &[f64]) -> f64 {
    let same_group = |player: &&Player| ratings.players[player.index()].group == rating.group;
    let centre = ratings.centre.iter().filter(same_group);
    let (count, sum) = centre
        .fold((0.0, 0.0), |(count, sum), player| (count + 1.0, sum + strengths[player.index()]));
    sum / count
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let contests = arguments.next().map_or(Ok(400), |text| text.parse());
    let contests = contests.expect("the number of contests is a number");
    let named = arguments.next().unwrap_or_default();
    println!(
        "| contests | players, seats, blocks a player | hold the truth | are above, below it | the first \
         player's | without an end |\n|---|---|---|---|---|---|"
    );
    for design in designs().iter().filter(|design| design.name.contains(&named)) {
        println!("{}", Study::of(design, contests).row(design));
    }
}

#[test]
fn intervals_hold_the_truth() {
    for design in designs().iter().filter(|design| design.players < 10) {
        let contests = 30;
        let held = Study::of(design, contests).all.held();
        // 30 contests of two players are no more than 60 intervals, which depend on each other.
        assert!((87.0..=100.0).contains(&held), "{}: {held:.1} %", design.name);
    }
}
