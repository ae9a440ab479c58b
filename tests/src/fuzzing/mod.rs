//! The fuzz targets: functions that take any bytes and panic if an invariant is broken.
//!
//! The fuzzer (`tests/fuzz`) searches for such bytes; `cargo test` runs the targets on the seeds and on
//! earlier findings.

mod edits;
mod contest_file;
mod games;
mod lines;
mod notations;
mod readers;
mod transcript;

pub use contest_file::contest_file;
pub use games::games;
pub use lines::lines;
pub use notations::notations;
pub use readers::readers;
pub use transcript::transcript;

/// A fuzz target: takes any bytes and panics if they break an invariant.
pub type Target = fn(&[u8]);

/// All targets and their names.
pub const TARGETS: [(&str, Target); 6] = [
    ("lines", lines),
    ("games", games),
    ("transcript", transcript),
    ("contest_file", contest_file),
    ("notations", notations),
    ("readers", readers),
];

/// Splits off the first byte; 0 if there is none.
fn byte(bytes: &[u8]) -> (u8, &[u8]) {
    bytes.split_first().map_or((0, bytes), |(&first, rest)| (first, rest))
}

/// A random generator seeded by the input, so that findings are reproducible.
struct Draw(u64);

impl Draw {
    fn of(bytes: &[u8]) -> Self {
        let mix = |sum: u64, &byte: &u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        Self(bytes.iter().fold(0xCBF2_9CE4_8422_2325, mix))
    }

    /// Returns a number from 0 to `end` - 1; 0 if `end` is 0.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        let drawn = (self.0 >> 33).checked_rem(end as u64).unwrap_or(0);
        usize::try_from(drawn).expect("below a usize")
    }
}
