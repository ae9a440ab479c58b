use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a clock measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClockKind {
    /// Wall time, from writing the `turn` line to reading the end of the answer.
    #[default]
    Wall,
    /// CPU time of the agent's whole process tree, with `backstop_ms` of wall time per turn.
    Cpu,
}

/// A match's clock. Times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ClockSettings {
    /// What is measured.
    pub kind: ClockKind,
    /// For start-up: from starting the process to a valid `ready`. Always wall time.
    pub start_ms: u64,
    /// For the whole match; null: no bank.
    pub bank_ms: Option<u64>,
    /// Added to the bank after each own turn.
    pub increment_ms: u64,
    /// The most that one turn may use; null: the whole bank.
    pub move_ms: Option<u64>,
    /// By how much a time may be exceeded without a fault; the bank is then 0, before the
    /// increment.
    pub margin_ms: u64,
    /// With CPU clocks, the wall time that one turn may take; null: four times the turn's
    /// allowance, at least two seconds.
    pub backstop_ms: Option<u64>,
}

impl Default for ClockSettings {
    /// One minute plus half a second per turn; ten seconds to start.
    fn default() -> Self {
        Self {
            kind: ClockKind::Wall,
            start_ms: 10_000,
            bank_ms: Some(60_000),
            increment_ms: 500,
            move_ms: None,
            margin_ms: 0,
            backstop_ms: None,
        }
    }
}

impl ClockSettings {
    /// The longest time in a setting: a year.
    pub const MS_MAX: u64 = 365 * 24 * 3600 * 1000;

    /// Checks that a match can be played with this clock.
    pub fn check(&self) -> Result<(), &'static str> {
        let times = [
            Some(self.start_ms),
            self.bank_ms,
            Some(self.increment_ms),
            self.move_ms,
            Some(self.margin_ms),
            self.backstop_ms,
        ];
        if times.into_iter().flatten().any(|ms| ms > Self::MS_MAX) {
            return Err("a clock's times may be at most a year");
        }
        if self.start_ms == 0 {
            return Err("`start_ms` must be at least 1");
        }
        if self.bank_ms.is_none() && self.move_ms.is_none() {
            return Err("a clock needs at least one of `bank_ms` and `move_ms`");
        }
        if self.bank_ms.is_none() && self.increment_ms > 0 {
            return Err("`increment_ms` is added to a bank: set `bank_ms` too");
        }
        if self.bank_ms == Some(0) || self.move_ms == Some(0) {
            return Err("`bank_ms` and `move_ms` must be at least 1");
        }
        Ok(())
    }
}

/// What an agent may use, as in `hello.limits`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Limits {
    /// Bytes in one line of its output, without the line end. At most 1048576.
    pub line_bytes: u64,
    /// Bytes of output in one turn, as they are in the transcript: escaped characters count as escaped.
    pub turn_bytes: u64,
    /// Bytes of output in the whole match, as they are in the transcript.
    pub match_bytes: u64,
    /// Bytes of stderr that are kept at the head, and again at the tail.
    pub stderr_bytes: u64,
    /// Memory of its whole process tree, in MiB.
    pub memory_mb: u64,
    /// Processes and threads.
    pub processes: u64,
    /// Open files.
    pub files: u64,
    /// Its private work folder, in MiB.
    pub work_mb: u64,
}

impl Limits {
    /// The fewest open files with which a program can start.
    const FILES_MIN: u64 = 8;
    /// The longest `line_bytes`, since readers of transcripts limit the length of lines.
    const LINE_BYTES_MAX: u64 = 1 << 20;

    /// Returns them, each at most so many times the default: a transcript may come from anyone.
    #[must_use]
    pub fn bounded(&self, times: u64) -> Self {
        let most = Self::default();
        let least = |own: u64, most: u64| own.min(most.saturating_mul(times));
        Self {
            line_bytes: self.line_bytes,
            turn_bytes: least(self.turn_bytes, most.turn_bytes),
            match_bytes: least(self.match_bytes, most.match_bytes),
            stderr_bytes: least(self.stderr_bytes, most.stderr_bytes),
            memory_mb: least(self.memory_mb, most.memory_mb),
            processes: least(self.processes, most.processes),
            files: least(self.files, most.files),
            work_mb: least(self.work_mb, most.work_mb),
        }
    }

    /// Checks that an agent can run within these limits.
    pub fn check(&self) -> Result<(), String> {
        if [self.line_bytes, self.turn_bytes, self.match_bytes].contains(&0) {
            return Err(
                "`line_bytes`, `turn_bytes` and `match_bytes` must be at least 1".to_owned()
            );
        }
        if self.line_bytes > Self::LINE_BYTES_MAX {
            let most = Self::LINE_BYTES_MAX;
            return Err(format!("`line_bytes` must be at most {most}, not {}", self.line_bytes));
        }
        if self.memory_mb == 0 || self.processes == 0 {
            return Err("`memory_mb` and `processes` must be at least 1".to_owned());
        }
        if self.files < Self::FILES_MIN {
            let least = Self::FILES_MIN;
            return Err(format!("`files` must be at least {least}, not {}", self.files));
        }
        Ok(())
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line_bytes: 65_536,
            turn_bytes: 262_144,
            match_bytes: 16_777_216,
            stderr_bytes: 65_536,
            memory_mb: 512,
            processes: 128,
            files: 256,
            work_mb: 64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Limits;

    #[test]
    fn what_a_transcript_allows_is_bounded() {
        let limits = Limits { memory_mb: 1 << 40, processes: 200, ..Limits::default() };
        let limits = Limits { stderr_bytes: 9, ..limits };
        let bounded = limits.bounded(4);
        let found = (bounded.memory_mb, bounded.processes, bounded.stderr_bytes);
        assert_eq!(found, (2048, 200, 9));
        assert_eq!(limits.bounded(1).processes, 128);
        assert_eq!(Limits::default().bounded(1), Limits::default());
    }
}
