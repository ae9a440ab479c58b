//! Records in the form that a fit needs: each game as a row of choices, equal choices counted
//! together.

use super::super::{FORFEIT, Player, Record};
use super::RatingField;
use referee_protocol::Result as Ended;
use std::collections::{BTreeMap, BTreeSet};

/// Games with more seats aren't rated: the number of ways to share a place doubles with every seat.
pub(super) const SEATS_MAX: usize = 8;

/// The games to fit, and the numbers of those left out.
#[derive(Debug)]
pub(super) struct Games<'a> {
    /// In the order of the schedule.
    pub(super) fitted: Vec<&'a Record>,
    /// Games that repeat an earlier one.
    pub(super) duplicates: u64,
    /// Games left out because of a fault.
    pub(super) faulty: u64,
}

impl<'a> Games<'a> {
    /// Takes the games of records, sorted by number, so that the order of the records doesn't
    /// matter. Of games with the same players in the same seats and the same moves, only the first
    /// one counts.
    pub(super) fn of(field: &RatingField, records: &'a [Record]) -> Self {
        let mut usable: Vec<&Record> = records.iter().filter(|game| field.can_rate(game)).collect();
        usable.sort_by_key(|game| {
            (game.number, game.block, game.game, &game.players, &game.places, &game.moves)
        });
        let all = usable.len();
        if !field.rate_faults {
            usable.retain(|game| !has_fault(game));
        }
        let faulty = all - usable.len();
        let mut seen = BTreeSet::new();
        let mut fitted = usable.clone();
        fitted.retain(|game| seen.insert((game.game, &game.players, &game.places, &game.moves)));
        let duplicates = usable.len() - fitted.len();
        Self { fitted, duplicates: duplicates as u64, faulty: faulty as u64 }
    }
}

impl RatingField {
    /// Whether the record is complete and has players to compare.
    fn can_rate(&self, game: &Record) -> bool {
        let distinct: BTreeSet<Player> = game.players.iter().copied().collect();
        (2..=SEATS_MAX).contains(&self.seats)
            && game.result != Ended::Void
            && game.reason != FORFEIT
            && game.players.len() == self.seats
            && game.places.len() == self.seats
            && distinct.len() == self.seats
            && distinct.iter().all(|player| player.index() < self.players)
    }
}

/// Whether the game ended by a fault, or continued without the player who made it. A resignation is
/// no fault.
fn has_fault(game: &Record) -> bool {
    game.result == Ended::Fault || game.seats.iter().any(|seat| seat.own_fault().is_some())
}

/// How a game ended, as far as a fit needs it.
#[derive(Clone, Debug)]
pub(crate) struct Finish<'a> {
    /// The players, in seat order.
    pub(crate) players: &'a [Player],
    /// The place of each of them: lower is better, equal places are shared.
    pub(crate) places: Vec<u32>,
    /// The block; its games are not independent of each other.
    pub(crate) block: u64,
    /// How many games ended like this.
    pub(crate) times: u32,
}

impl<'a> From<&'a Record> for Finish<'a> {
    fn from(game: &'a Record) -> Self {
        Self { players: &game.players, places: game.places.clone(), block: game.block, times: 1 }
    }
}

/// A rated player, as an index into [`Evidence::rated`], and its seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SeatedPlayer {
    pub(super) player: usize,
    pub(super) seat: usize,
}

/// A choice: which of the remaining players takes the next place, or which of them share it. Bit i
/// of `chosen` is for the i-th remaining player.
#[derive(Clone, Debug)]
struct Choice {
    remaining: Vec<SeatedPlayer>,
    chosen: u32,
}

impl Choice {
    fn shared_by(&self) -> usize {
        self.chosen.count_ones() as usize
    }
}

/// A set of players in seats from which a choice was made, once or more often.
#[derive(Debug)]
pub(super) struct ChoiceSet {
    /// In seat order.
    pub(super) remaining: Vec<SeatedPlayer>,
    /// Where its counts begin; there is one for each option of its shape.
    pub(super) first_count: usize,
}

/// The options among a number of remaining players.
#[derive(Debug, Default)]
pub(super) struct Shape {
    pub(super) options: Vec<ChoiceOption>,
    /// Which tie terms occur in it.
    pub(super) ties: Vec<usize>,
}

/// Some players of a set, who would share a place.
#[derive(Debug)]
pub(super) struct ChoiceOption {
    pub(super) chosen: u32,
    /// The chosen players, as indices into the set.
    pub(super) members: Vec<usize>,
    /// An index into [`Shape::ties`], if several are chosen.
    pub(super) tie: Option<usize>,
}

/// Everything that a fit needs to know of games.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// Players with games, in order.
    pub(super) rated: Vec<Player>,
    /// How many games each of them has.
    pub(super) games: Vec<u64>,
    /// The opponents of each of them.
    pub(super) met: Vec<BTreeSet<usize>>,
    pub(super) seats: usize,
    pub(super) sets: Vec<ChoiceSet>,
    /// How often each option of each set was chosen.
    pub(super) counts: Vec<f64>,
    /// Shapes by the number of remaining players. One without options gives no information.
    pub(super) shapes: Vec<Shape>,
    /// The tie terms: the number of remaining players, and how many share the place.
    pub(super) ties: Vec<(usize, usize)>,
    /// The choices of each block, as indices into `counts`.
    pub(super) blocks: Vec<Vec<usize>>,
}

impl Evidence {
    /// Collects the choices of games.
    pub(super) fn of<'a>(seats: usize, games: impl IntoIterator<Item: Into<Finish<'a>>>) -> Self {
        let games: Vec<Finish<'a>> = games.into_iter().map(Into::into).collect();
        let rated: BTreeSet<Player> = games.iter().flat_map(|game| game.players).copied().collect();
        let rated: Vec<Player> = rated.into_iter().collect();
        let mut evidence = Self {
            games: vec![0; rated.len()],
            met: vec![BTreeSet::new(); rated.len()],
            rated,
            seats,
            ..Self::default()
        };
        let mut choices: Vec<(u64, u32, Choice)> = Vec::new();
        let blocks: BTreeSet<u64> = games.iter().map(|game| game.block).collect();
        for game in &games {
            let seated_players = evidence.seated_players(game.players);
            for spot in &seated_players {
                evidence.games[spot.player] += u64::from(game.times);
                evidence.met[spot.player].extend(seated_players.iter().map(|other| other.player));
            }
            let made = choices_of(&seated_players, &game.places);
            choices.extend(made.map(|choice| (game.block, game.times, choice)));
        }
        evidence.find_shapes(choices.iter().map(|(.., choice)| choice));
        evidence.count(&choices, blocks.into_iter());
        evidence
    }

    fn seated_players(&self, players: &[Player]) -> Vec<SeatedPlayer> {
        let index = |player: &Player| self.rated.binary_search(player).unwrap_or_default();
        let seated_players = players.iter().map(index).enumerate();
        seated_players.map(|(seat, player)| SeatedPlayer { player, seat }).collect()
    }

    /// Only ties that occurred are options: the most likely share of all others is 0. If all
    /// remaining players always shared the place, there is no information about their strengths.
    fn find_shapes<'a>(&mut self, choices: impl Iterator<Item = &'a Choice>) {
        let mut sizes: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.seats + 1];
        for choice in choices {
            sizes[choice.remaining.len()].insert(choice.shared_by());
        }
        for (among, mut shared_by) in sizes.into_iter().enumerate() {
            if shared_by.iter().all(|&size| size == among) {
                self.shapes.push(Shape::default());
                continue;
            }
            shared_by.insert(1);
            let first = self.ties.len();
            self.ties.extend(shared_by.iter().filter(|&&size| size > 1).map(|&size| (among, size)));
            let ties: Vec<usize> = (first..self.ties.len()).collect();
            let options = (1..1_u32 << among)
                .filter(|chosen| shared_by.contains(&(chosen.count_ones() as usize)))
                .map(|chosen| {
                    let members: Vec<usize> =
                        (0..among).filter(|place| chosen >> place & 1 == 1).collect();
                    let tie = ties.iter().position(|&tie| self.ties[tie].1 == members.len());
                    ChoiceOption { chosen, members, tie }
                });
            let options = options.collect();
            self.shapes.push(Shape { options, ties });
        }
    }

    fn count(&mut self, choices: &[(u64, u32, Choice)], blocks: impl Iterator<Item = u64>) {
        let options = |remaining: &[SeatedPlayer]| &self.shapes[remaining.len()].options;
        let sets = choices.iter().map(|(.., choice)| &choice.remaining);
        let sets: BTreeSet<&Vec<SeatedPlayer>> =
            sets.filter(|set| !options(set).is_empty()).collect();
        let mut first_of = BTreeMap::new();
        let mut first_count = 0;
        for set in sets {
            first_of.insert(set, first_count);
            self.sets.push(ChoiceSet { remaining: set.clone(), first_count });
            first_count += options(set).len();
        }
        self.counts = vec![0.0; first_count];
        let mut by_block: BTreeMap<u64, Vec<usize>> =
            blocks.map(|block| (block, Vec::new())).collect();
        for (block, times, choice) in choices {
            let Some(first) = first_of.get(&choice.remaining) else { continue };
            let chosen = |option: &ChoiceOption| option.chosen == choice.chosen;
            let option = options(&choice.remaining).iter().position(chosen);
            let count = first + option.unwrap_or_default();
            self.counts[count] += f64::from(*times);
            by_block.entry(*block).or_default().extend((0..*times).map(|_| count));
        }
        self.blocks = by_block.into_values().collect();
    }

    /// Returns the options of a set and how often each was chosen.
    pub(super) fn options(&self, set: &ChoiceSet) -> impl Iterator<Item = (&ChoiceOption, f64)> {
        let options = &self.shapes[set.remaining.len()].options;
        options.iter().zip(self.counts[set.first_count..].iter().copied())
    }
}

/// Returns the choices of a game, from the first place down: which of the remaining players takes
/// the place. When one remains, there is no choice.
fn choices_of(seated_players: &[SeatedPlayer], places: &[u32]) -> impl Iterator<Item = Choice> {
    let taken: BTreeSet<u32> = places.iter().copied().collect();
    let choices: Vec<Choice> = taken
        .into_iter()
        .map(|place| {
            let remaining =
                || seated_players.iter().zip(places).filter(move |(_, at)| **at >= place);
            let chosen = remaining().enumerate().filter(|(_, (_, at))| **at == place);
            Choice {
                chosen: chosen.map(|(index, _)| 1 << index).sum(),
                remaining: remaining().map(|(spot, _)| *spot).collect(),
            }
        })
        .collect();
    choices.into_iter().filter(|choice| choice.remaining.len() > 1)
}
