//! A clock on the command line.

use super::presets::Preset;
use clap::Args;
use referee_match::times::{read_clock, read_time};
use referee_process::Failure;
use referee_protocol::{ClockKind, ClockSettings};

/// The variable that stands in for --clock.
const CLOCK_VARIABLE: &str = "REFEREE_CLOCK";

/// A clock on the command line.
#[derive(Debug, Args)]
pub(super) struct ClockOptions {
    /// Time for the match and what each turn adds, such as 60s+0.5s (the default) or 5m; without
    /// it and --preset, what `REFEREE_CLOCK` says
    #[arg(long, value_name = "BANK[+INCREMENT]")]
    clock: Option<String>,
    /// The most that a turn may take; without --clock it is all there is
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    move_time: Option<u64>,
    /// Counts CPU time of the agent's processes instead of time on the wall
    #[arg(long)]
    cpu: bool,
    /// Time to start up, 10s unless it is given
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    start_time: Option<u64>,
    /// What may be exceeded without a fault
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    margin: Option<u64>,
    /// With CPU time: the time on the wall that a turn may take
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    backstop: Option<u64>,
}

impl ClockOptions {
    /// The settings; `untimed` where nothing is asked for: a person plays, and takes their time.
    pub(super) fn settings(
        &self,
        preset: Option<&Preset>,
        untimed: bool,
    ) -> Result<ClockSettings, Failure> {
        let default = preset.map_or_else(ClockSettings::default, Preset::clock);
        let (bank_ms, increment_ms) = match (self.bank(preset), self.move_time) {
            (Some(text), _) => {
                let (bank, increment) = read_clock(&text)
                    .map_err(|error| Failure::usage(format!("--clock {text}: {error}")))?;
                (Some(bank), increment)
            }
            (None, Some(_)) if preset.is_none() => (None, 0),
            (None, None) if untimed && preset.is_none() => (Some(ClockSettings::MS_MAX), 0),
            (None, _) => (default.bank_ms, default.increment_ms),
        };
        let kind = if self.cpu { ClockKind::Cpu } else { default.kind };
        if self.backstop.is_some() && kind == ClockKind::Wall {
            return Err(Failure::usage("--backstop stands behind CPU time, which isn't counted")
                .help("add --cpu, or cap a turn on the wall with --move-time"));
        }
        let settings = ClockSettings {
            kind,
            start_ms: self.start_time.unwrap_or(default.start_ms),
            bank_ms,
            increment_ms,
            move_ms: self.move_time,
            margin_ms: self.margin.unwrap_or(default.margin_ms),
            backstop_ms: self.backstop.or(default.backstop_ms),
        };
        settings.check().map_err(|error| Failure::usage(format!("clock: {error}")))?;
        Ok(settings)
    }

    /// Whether a time for turns is asked for.
    pub(super) fn is_given(&self) -> bool {
        self.bank(None).is_some() || self.move_time.is_some()
    }

    /// What is said of the bank: by the option, or by the environment where nobody says anything.
    fn bank(&self, preset: Option<&Preset>) -> Option<String> {
        let set = || std::env::var(CLOCK_VARIABLE).ok();
        self.clock.clone().or_else(|| set().filter(|_| preset.is_none()))
    }

    /// The words that give the same clock again.
    pub(super) fn words(&self, preset: Option<&Preset>) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |option: &str, value: Option<String>| {
            words.extend(value.map(|value| format!("{option}={value}")));
        };
        let ms = |time: Option<u64>| time.map(|ms| format!("{ms}ms"));
        add("--clock", self.bank(preset));
        add("--move-time", ms(self.move_time));
        add("--start-time", ms(self.start_time));
        add("--margin", ms(self.margin));
        if self.cpu {
            words.push("--cpu".to_owned());
        }
        words.extend(ms(self.backstop).map(|time| format!("--backstop={time}")));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::ClockOptions;
    use clap::{Args, Command, FromArgMatches};
    use referee_match::presets;
    use referee_protocol::ClockKind;

    fn options(words: &[&str]) -> ClockOptions {
        let command = ClockOptions::augment_args(Command::new("play").no_binary_name(true));
        ClockOptions::from_arg_matches(&command.try_get_matches_from(words).unwrap()).unwrap()
    }

    #[test]
    fn options_override_parts_of_a_preset() {
        let preset = presets::find("comp30024-2025");
        let told = options(&[]).settings(preset, false).unwrap();
        assert_eq!(told.kind, ClockKind::Cpu);
        assert_eq!((told.bank_ms, told.increment_ms), (Some(180_000), 0));
        assert_eq!((told.backstop_ms, told.start_ms), (Some(180_000), 180_000));
        // A person who asks for a course's conditions has its clock too.
        assert_eq!(options(&[]).settings(preset, true).unwrap(), told);
        let words = ["--clock", "9s+1s", "--backstop", "5s", "--move-time", "2s"];
        let told = options(&words).settings(preset, false).unwrap();
        assert_eq!(told.kind, ClockKind::Cpu);
        assert_eq!((told.bank_ms, told.increment_ms), (Some(9000), 1000));
        assert_eq!((told.backstop_ms, told.move_ms), (Some(5000), Some(2000)));
        let told = options(&["--move-time", "2s"]).settings(preset, false).unwrap();
        assert_eq!((told.bank_ms, told.move_ms), (Some(180_000), Some(2000)));
    }

    #[test]
    fn a_backstop_needs_cpu_time() {
        let failure = options(&["--backstop", "5s"]).settings(None, false).unwrap_err();
        assert!(failure.help_text().unwrap().contains("--cpu"), "{failure}");
        let told = options(&["--backstop", "5s", "--cpu"]).settings(None, false).unwrap();
        assert_eq!(told.backstop_ms, Some(5000));
    }
}
