//! Games played to the end at random.

use crate::game::{Game, points, refused};
use crate::number::Number;
use crate::signals::{PERIOD, Signals};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::{Bound, PyDictMethods, PyResult, Python, pyfunction};
use pyo3::types::PyDict;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use referee_games::{AnyGame, Turn};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

/// The most playouts of one call.
const PLAYOUTS_MAX: usize = 1 << 32;
const THREADS_MAX: usize = 256;
/// The most plies between two looks at signals.
const PLIES_AT_ONCE: u64 = 1 << 10;

/// What some playouts led to.
#[derive(Debug, Default)]
struct Sums {
    /// By seat, in units of `most`, so that their sum doesn't depend on the order.
    points: Vec<i64>,
    most: i32,
    /// By seat: the games that it alone won.
    wins: Vec<u64>,
    unfinished: u64,
    plies: u64,
}

/// Plays `n` copies of the game to the end with actions drawn at random, each legal one equally likely, and returns the
/// sums over all: see `referee_kit.games.playouts`.
#[pyfunction]
#[pyo3(signature = (game, n, seed, plies_max, threads))]
#[expect(clippy::needless_pass_by_value, reason = "arguments from Python")]
pub(crate) fn playouts<'py>(
    py: Python<'py>,
    game: &Game,
    n: Number,
    seed: u64,
    plies_max: Number,
    threads: Number,
) -> PyResult<Bound<'py, PyDict>> {
    let n = n.within("the number of playouts", 0..=PLAYOUTS_MAX)?;
    let plies_max = plies_max.within("plies_max", 0..=usize::MAX)? as u64;
    let threads = threads.within("threads", 1..=THREADS_MAX)?;
    let start = game.game.clone();
    let sums = py.detach(|| shared(start.as_ref(), n, seed, plies_max, threads))?;
    let dict = PyDict::new(py);
    dict.set_item("points", (sums.points, sums.most))?;
    dict.set_item("wins", sums.wins)?;
    dict.set_item("unfinished", sums.unfinished)?;
    dict.set_item("plies", sums.plies)?;
    Ok(dict)
}

/// Plays on several threads; the result doesn't depend on how many.
fn shared(
    start: &dyn AnyGame,
    n: usize,
    seed: u64,
    plies_max: u64,
    threads: usize,
) -> PyResult<Sums> {
    let play = |from: usize, to: usize, watch: &dyn Fn() -> PyResult<()>| {
        let mut sums = Sums::new(start.seats());
        for number in from..to {
            sums.play(start, seed, number as u64, plies_max, watch)?;
        }
        Ok(sums)
    };
    let signals = Signals::new();
    let look = || signals.look();
    if threads == 1 {
        return play(0, n, &look);
    }
    let (play, stopped) = (&play, &AtomicBool::new(false));
    let (done, all_done) = mpsc::channel();
    thread::scope(|scope| {
        let share = |thread: usize| n / threads * thread + (n % threads).min(thread);
        for thread in 0..threads {
            let (from, to, result) = (share(thread), share(thread + 1), done.clone());
            let watch = || {
                if stopped.load(Ordering::Relaxed) {
                    Err(PyKeyboardInterrupt::new_err(()))
                } else {
                    Ok(())
                }
            };
            let begun = thread::Builder::new()
                .spawn_scoped(scope, move || result.send(play(from, to, &watch)).ok());
            if begun.is_err() {
                // The system has no more threads.
                done.send(play(from, to, &look)).ok();
            }
        }
        drop(done);
        let mut all = Ok(Sums::new(start.seats()));
        loop {
            let failed = match all_done.recv_timeout(PERIOD) {
                Ok(Ok(sums)) => {
                    all = all.map(|all: Sums| all.and(&sums));
                    continue;
                }
                Ok(Err(error)) => error,
                Err(RecvTimeoutError::Timeout) => match signals.look() {
                    Ok(()) => continue,
                    Err(interrupt) => interrupt,
                },
                Err(RecvTimeoutError::Disconnected) => return all,
            };
            // The first error is the cause of the others.
            stopped.store(true, Ordering::Relaxed);
            all = all.and(Err(failed));
        }
    })
}

impl Sums {
    fn new(seats: usize) -> Self {
        Self { points: vec![0; seats], most: 1, wins: vec![0; seats], ..Self::default() }
    }

    fn play(
        &mut self,
        start: &dyn AnyGame,
        seed: u64,
        number: u64,
        plies_max: u64,
        watch: &dyn Fn() -> PyResult<()>,
    ) -> PyResult<()> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(number);
        let mut game = start.clone_box();
        let mut left = plies_max;
        let outcome = loop {
            watch()?;
            let plies = left.min(PLIES_AT_ONCE);
            let played =
                game.play_at_random(&mut |bound| random.random_range(0..bound.max(1)), plies);
            played.map_err(|refusal| refused(&refusal))?;
            left -= plies;
            match game.turn() {
                Turn::Over(outcome) => break Some(outcome),
                _ if left == 0 => break None,
                _ => {}
            }
        };
        self.plies += game.turn_number().saturating_sub(start.turn_number());
        let Some(outcome) = outcome else {
            self.unfinished += 1;
            return Ok(());
        };
        let (points, most) = points(&outcome.places);
        self.most = most;
        for (sum, own) in self.points.iter_mut().zip(points) {
            *sum += i64::from(own);
        }
        let mut first = (0..).zip(&outcome.places).filter(|(_, place)| **place == 1);
        if let (Some((seat, _)), None) = (first.next(), first.next()) {
            self.wins[seat] += 1;
        }
        Ok(())
    }

    fn and(mut self, other: &Self) -> Self {
        self.most = self.most.max(other.most);
        for (sum, own) in self.points.iter_mut().zip(&other.points) {
            *sum += own;
        }
        for (sum, wins) in self.wins.iter_mut().zip(&other.wins) {
            *sum += wins;
        }
        self.unfinished += other.unfinished;
        self.plies += other.plies;
        self
    }
}
