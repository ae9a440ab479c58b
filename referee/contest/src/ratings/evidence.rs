//! Games in the form that a fit needs: each as a row of choices, equal choices counted together.

use super::games::Finish;
use crate::Player;
use std::collections::{BTreeMap, BTreeSet};

/// A rated player, as an index into [`Evidence::rated`], and its seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SeatedPlayer {
    pub(super) player: usize,
    pub(super) seat: usize,
}

/// A choice: which of the remaining players takes the next place, or which of them share it. Bit i
/// of `chosen` is for the i-th remaining player.
#[derive(Debug)]
struct Choice {
    remaining: Vec<SeatedPlayer>,
    chosen: u32,
}

/// How often each choice was made, by the remaining players.
type Chosen = BTreeMap<Vec<SeatedPlayer>, BTreeMap<u32, u64>>;

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
    /// The choices of blocks, as indices into `counts`, with the number of blocks that have them.
    pub(super) blocks: Vec<(Vec<usize>, u64)>,
}

impl Evidence {
    /// Collects the choices of games, without their blocks.
    pub(super) fn of<'a>(seats: usize, games: impl Iterator<Item = Finish<'a>>) -> Self {
        let mut kinds: BTreeMap<(&[Player], &[u32]), u64> = BTreeMap::new();
        for game in games {
            *kinds.entry((game.players, game.places)).or_default() += game.times;
        }
        let rated: BTreeSet<Player> =
            kinds.keys().flat_map(|(players, _)| *players).copied().collect();
        let rated: Vec<Player> = rated.into_iter().collect();
        let mut evidence = Self {
            games: vec![0; rated.len()],
            met: vec![BTreeSet::new(); rated.len()],
            rated,
            seats,
            ..Self::default()
        };
        let mut chosen: Chosen = BTreeMap::new();
        for ((players, places), times) in kinds {
            let seated_players = evidence.seated_players(players);
            for spot in &seated_players {
                evidence.games[spot.player] += times;
                evidence.met[spot.player].extend(seated_players.iter().map(|other| other.player));
            }
            for choice in choices_of(&seated_players, places) {
                let counts = chosen.entry(choice.remaining).or_default();
                *counts.entry(choice.chosen).or_default() += times;
            }
        }
        evidence.find_shapes(&chosen);
        evidence.count(chosen);
        evidence
    }

    /// Adds the blocks of the same games. Games of a block follow each other.
    pub(super) fn with_blocks<'a>(mut self, games: impl Iterator<Item = Finish<'a>>) -> Self {
        let mut known: BTreeMap<(&[Player], &[u32]), Vec<usize>> = BTreeMap::new();
        let mut blocks: BTreeMap<Vec<usize>, u64> = BTreeMap::new();
        let mut current: Option<(u64, Vec<usize>)> = None;
        for game in games {
            if let Some((_, choices)) = current.take_if(|(block, _)| *block != game.block) {
                *blocks.entry(choices).or_default() += 1;
            }
            let counted = known
                .entry((game.players, game.places))
                .or_insert_with(|| self.counted(game.players, game.places));
            current.get_or_insert_with(|| (game.block, Vec::new())).1.extend(&*counted);
        }
        if let Some((_, choices)) = current {
            *blocks.entry(choices).or_default() += 1;
        }
        self.blocks = blocks.into_iter().collect();
        self
    }

    /// Returns the choices of a game as indices into the counts.
    fn counted(&self, players: &[Player], places: &[u32]) -> Vec<usize> {
        let seated_players = self.seated_players(players);
        let choices = choices_of(&seated_players, places);
        let counted = choices.filter_map(|choice| {
            let set =
                self.sets.binary_search_by(|set| set.remaining.cmp(&choice.remaining)).ok()?;
            let set = &self.sets[set];
            let options = &self.shapes[set.remaining.len()].options;
            let option = options.iter().position(|option| option.chosen == choice.chosen);
            Some(set.first_count + option.unwrap_or_default())
        });
        counted.collect()
    }

    fn seated_players(&self, players: &[Player]) -> Vec<SeatedPlayer> {
        let index = |player: &Player| self.rated.binary_search(player).unwrap_or_default();
        let seated_players = players.iter().map(index).enumerate();
        seated_players.map(|(seat, player)| SeatedPlayer { player, seat }).collect()
    }

    /// Only ties that occurred are options: the most likely share of all others is 0. If all
    /// remaining players always shared the place, there is no information about their strengths.
    fn find_shapes(&mut self, chosen: &Chosen) {
        let mut sizes: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.seats + 1];
        for (remaining, counts) in chosen {
            sizes[remaining.len()].extend(counts.keys().map(|chosen| chosen.count_ones() as usize));
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

    #[expect(clippy::cast_precision_loss, reason = "there are far fewer than 2^53 games")]
    fn count(&mut self, chosen: Chosen) {
        for (remaining, counts) in chosen {
            let options = &self.shapes[remaining.len()].options;
            if options.is_empty() {
                continue;
            }
            let first_count = self.counts.len();
            let count = |option: &ChoiceOption| counts.get(&option.chosen).copied().unwrap_or(0);
            self.counts.extend(options.iter().map(|option| count(option) as f64));
            self.sets.push(ChoiceSet { remaining, first_count });
        }
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
