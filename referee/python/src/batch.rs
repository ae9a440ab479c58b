//! Many games of one kind that are stepped together.

use crate::game::{Arrays, Game, bytes_of, failed, points, refused};
use crate::number::Number;
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyValueError};
use pyo3::prelude::{Bound, PyResult, Python, pyclass, pymethods};
use pyo3::types::PyByteArray;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use referee_games::{AnyGame, Numbering, Refusal, Turn};
use std::hint::black_box;
use std::sync::Arc;

/// The most games of a batch.
const GAMES_MAX: usize = 1 << 20;
/// The most bytes of all planes or masks of a batch.
const BYTES_MAX: usize = 1 << 32;
/// What a game has beside its own fields, about.
const BESIDE_BYTES: usize = 1 << 10;

/// How a game ended in a step: `ENDED` by its rules, `CUT` by `plies_max`, or its seat played an `ILLEGAL` action.
const ENDED: u8 = 1;
const CUT: u8 = 2;
const ILLEGAL: u8 = 3;

/// Games that are stepped together, each begun anew when it has ended. `referee_kit.env.Vector` documents it.
#[pyclass(module = "referee_kit._native")]
#[derive(Debug)]
pub(crate) struct Batch {
    start: Game,
    arrays: Arc<Arrays>,
    slots: Vec<Slot>,
    plies_max: u64,
}

/// A game of a batch.
#[derive(Debug)]
struct Slot {
    game: Box<dyn AnyGame>,
    plies: u64,
    /// For draws.
    random: ChaCha8Rng,
}

impl Slot {
    fn begin(&mut self, start: &dyn AnyGame) -> Result<(), Refusal> {
        (self.game, self.plies) = (start.clone_box(), 0);
        self.draw()
    }

    /// Plays draws until a seat is to move.
    fn draw(&mut self) -> Result<(), Refusal> {
        while let Turn::Chance(chance) = self.game.turn() {
            let total: u64 = chance.weights.iter().sum();
            let outcome = chance.pick(self.random.random_range(0..total.max(1)));
            self.game.draw(outcome)?;
        }
        Ok(())
    }

    /// Plays an action, writes the rewards, and begins anew after the end. Returns how the game ended, 0 if it did not.
    fn step(
        &mut self,
        action: usize,
        start: &dyn AnyGame,
        numbering: &Numbering,
        plies_max: u64,
        rewards: &mut [f32],
    ) -> Result<u8, Refusal> {
        let mover = self.game.turn();
        match self.game.play_number(action, numbering) {
            Ok(()) => self.plies += 1,
            Err(failed @ Refusal::Failed(_)) => return Err(failed),
            Err(Refusal::Malformed(_) | Refusal::Illegal(_)) => {
                if let Turn::Of(mover) = mover {
                    lose(mover.index(), rewards);
                }
                self.begin(start)?;
                return Ok(ILLEGAL);
            }
        }
        self.draw()?;
        if let Turn::Over(outcome) = self.game.turn() {
            let (points, most) = points(&outcome.places);
            let reward = |own: i32| f64::from(own) / f64::from(most);
            for (to, own) in rewards.iter_mut().zip(points) {
                #[expect(clippy::cast_possible_truncation, reason = "a reward is -1 to 1")]
                let reward = reward(own) as f32;
                *to = reward;
            }
            self.begin(start)?;
            return Ok(ENDED);
        }
        if self.plies >= plies_max {
            self.begin(start)?;
            return Ok(CUT);
        }
        Ok(0)
    }
}

/// Writes the rewards after an illegal action: its seat is last, the others share the first place.
fn lose(mover: usize, rewards: &mut [f32]) {
    let others = u16::try_from(rewards.len() - 1).unwrap_or(u16::MAX).max(1);
    rewards.fill(1.0 / f32::from(others));
    rewards[mover] = -1.0;
}

#[pymethods]
impl Batch {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "arguments from Python")]
    fn new(game: &Game, n: Number, seed: u64, plies_max: Number) -> PyResult<Self> {
        let n = n.index();
        let plies_max = plies_max.within("plies_max", 0..=usize::MAX)? as u64;
        let arrays = game.arrays()?.clone();
        let most = arrays.numbering()?.total().max(4 * arrays.planes()?.len()).max(1);
        if n == 0 || n > GAMES_MAX.min(BYTES_MAX / most) {
            let most = GAMES_MAX.min(BYTES_MAX / most);
            return Err(PyValueError::new_err(format!("a batch has 1 to {most} of these games")));
        }
        let start = game.copy();
        // Without memory the process would end: it is asked for once, before.
        let size = size_of::<Slot>() + size_of_val(start.game.as_ref()) + BESIDE_BYTES;
        if black_box(Vec::<u8>::new()).try_reserve_exact(n * size).is_err() {
            let text = format!("{n} of these games need {} MiB", (n * size) >> 20);
            return Err(PyMemoryError::new_err(text));
        }
        let slot = |number: usize| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(number as u64);
            let mut slot = Slot { game: start.game.clone(), plies: 0, random };
            slot.begin(start.game.as_ref()).map(|()| slot)
        };
        let slots: Result<Vec<Slot>, Refusal> = (0..n).map(slot).collect();
        let slots = slots.map_err(|refusal| refused(&refusal))?;
        if let Some(slot) = slots.first()
            && matches!(slot.game.turn(), Turn::Over(_))
        {
            return Err(PyValueError::new_err("the game is over at its start"));
        }
        Ok(Self { start, arrays, slots, plies_max })
    }

    /// Plays an action in each game: the numbers as 32-bit integers of this machine. Returns the rewards of all seats
    /// of all games as 32-bit floats, and for each game a byte.
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        actions: &[u8],
    ) -> PyResult<(Bound<'py, PyByteArray>, Bound<'py, PyByteArray>)> {
        let (actions, rest) = actions.as_chunks::<4>();
        if actions.len() != self.slots.len() || !rest.is_empty() {
            return Err(PyValueError::new_err(format!("expected {} actions", self.slots.len())));
        }
        let seats = self.start.game.seats();
        let mut rewards = vec![0.0_f32; seats * self.slots.len()];
        let mut ended = vec![0_u8; self.slots.len()];
        let numbering = self.arrays.numbering()?;
        let (start, plies_max) = (self.start.game.as_ref(), self.plies_max);
        let slots = self.slots.iter_mut();
        let stepped = py.detach(|| {
            let outputs = rewards.chunks_exact_mut(seats).zip(&mut ended);
            slots.zip(actions).zip(outputs).try_for_each(|((slot, action), (rewards, ended))| {
                let action = usize::try_from(u32::from_ne_bytes(*action)).unwrap_or(usize::MAX);
                *ended = slot.step(action, start, numbering, plies_max, rewards)?;
                Ok(())
            })
        });
        stepped.map_err(|refusal: Refusal| refused(&refusal))?;
        Ok((bytes_of(py, &rewards), PyByteArray::new(py, &ended)))
    }

    /// Returns what the seat to move sees of each game: the planes as 32-bit floats, the masks, and the seats.
    fn observe<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyByteArray>, Bound<'py, PyByteArray>, Bound<'py, PyByteArray>)> {
        let (planes, numbering) = (self.arrays.planes()?, self.arrays.numbering()?);
        let (size, total, n) = (planes.len(), numbering.total(), self.slots.len());
        let mut seats = vec![0_u8; n];
        // Made in the arrays that are returned: there may be gigabytes of them.
        let floats = PyByteArray::new_with(py, 4 * size * n, |floats| {
            let observed = py.detach(|| {
                let mut own = vec![0.0_f32; size];
                let outputs = floats.chunks_exact_mut(4 * size).zip(&mut seats);
                for (slot, (floats, seat)) in self.slots.iter().zip(outputs) {
                    let Turn::Of(mover) = slot.game.turn() else { continue };
                    planes.write(slot.game.as_ref(), mover, &mut own)?;
                    for (bytes, float) in floats.as_chunks_mut::<4>().0.iter_mut().zip(&own) {
                        *bytes = float.to_ne_bytes();
                    }
                    *seat = mover.0;
                }
                Ok(())
            });
            observed.map_err(|failure| failed(&failure))
        })?;
        let masks = PyByteArray::new_with(py, total * n, |masks| {
            let listed = py.detach(|| {
                for (slot, mask) in self.slots.iter().zip(masks.chunks_exact_mut(total)) {
                    for number in slot.game.legal_numbers(numbering)? {
                        mask[number] = 1;
                    }
                }
                Ok(())
            });
            listed.map_err(|failure| failed(&failure))
        })?;
        Ok((floats, masks, PyByteArray::new(py, &seats)))
    }

    /// Returns a copy of one of the games.
    #[expect(clippy::needless_pass_by_value, reason = "an argument from Python")]
    fn game(&self, number: Number) -> PyResult<Game> {
        let slot = self.slots.get(number.index()).ok_or_else(|| {
            let last = self.slots.len() - 1;
            PyIndexError::new_err(format!("there is no game {number}: they are 0 to {last}"))
        })?;
        Ok(self.start.with(slot.game.clone(), None))
    }
}
