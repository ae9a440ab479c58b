//! What is fuzzed: functions that take any bytes and panic where a promise is broken.
//!
//! A fuzzer (`tests/fuzz`) looks for bytes that do it; plain `cargo test` only feeds them what was
//! found before, and the seeds.

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

/// Something to be fuzzed: any bytes are fine, and it panics where they break a promise.
pub type Target = fn(&[u8]);

/// Every target, by its name.
pub const TARGETS: [(&str, Target); 6] = [
    ("lines", lines),
    ("games", games),
    ("transcript", transcript),
    ("contest_file", contest_file),
    ("notations", notations),
    ("readers", readers),
];

/// Splits off the first byte; 0 where there is none.
fn byte(bytes: &[u8]) -> (u8, &[u8]) {
    bytes.split_first().map_or((0, bytes), |(&first, rest)| (first, rest))
}

/// Numbers that are the same for the same bytes: where something is drawn, a finding can be replayed.
struct Draw(u64);

impl Draw {
    fn of(bytes: &[u8]) -> Self {
        let mix = |sum: u64, &byte: &u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        Self(bytes.iter().fold(0xCBF2_9CE4_8422_2325, mix))
    }

    /// 0 to `end` - 1; 0 where there is nothing to draw from.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        let drawn = (self.0 >> 33).checked_rem(end as u64).unwrap_or(0);
        usize::try_from(drawn).expect("below a usize")
    }
}
