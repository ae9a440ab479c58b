//! The clock options.

use super::presets::Preset;
use clap::Args;
use referee_match::times::{read_clock, read_time};
use referee_process::Failure;
use referee_protocol::{ClockKind, ClockSettings};

/// The environment variable that replaces --clock.
const CLOCK_VARIABLE: &str = "REFEREE_CLOCK";
/// The clock if nothing sets one.
const USUAL: &str = "60s+0.5s";

/// The clock options.
#[derive(Debug, Args)]
#[command(next_help_heading = "Clock")]
pub(super) struct ClockOptions {
    /// Time per agent for the match, and increment per turn, such as 60s+0.5s or 5m. Defaults to the
    /// preset's clock, else `REFEREE_CLOCK`, else the config file's, else 60s+0.5s
    #[arg(long, value_name = "BANK[+INCREMENT]")]
    clock: Option<String>,
    /// Clock if neither --clock, --move-time nor a preset is given; a config file sets it
    #[arg(long, env = CLOCK_VARIABLE, hide = true)]
    default_clock: Option<String>,
    /// Maximum time per turn, such as 500ms; without --clock, the only limit. Defaults to none
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    move_time: Option<u64>,
    /// Count the agent's CPU time instead of elapsed time
    #[arg(long)]
    cpu: bool,
    /// Maximum time to start, such as 30s. Defaults to the preset's, else 10s
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    start_time: Option<u64>,
    /// Time by which a limit may be exceeded without a fault, such as 50ms. Defaults to 0
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    margin: Option<u64>,
    /// With --cpu: maximum elapsed time per turn, such as 60s. Defaults to 4 times the CPU time left
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    backstop: Option<u64>,
}

impl ClockOptions {
    /// Returns the settings; `untimed` means no limit unless one is given, as for a person.
    pub(super) fn settings(
        &self,
        preset: Option<&Preset>,
        untimed: bool,
    ) -> Result<ClockSettings, Failure> {
        let default = preset.map_or_else(ClockSettings::default, Preset::clock);
        let (bank_ms, increment_ms) = match (self.bank(preset), self.move_time) {
            (Some(text), _) => {
                let source = if self.clock.is_some() { "--clock" } else { CLOCK_VARIABLE };
                let (bank, increment) = read_clock(&text)
                    .map_err(|error| Failure::usage(format!("{source} {text}: {error}")))?;
                (Some(bank), increment)
            }
            (None, Some(_)) if preset.is_none() => (None, 0),
            (None, None) if untimed && preset.is_none() => (Some(ClockSettings::MS_MAX), 0),
            (None, _) => (default.bank_ms, default.increment_ms),
        };
        let kind = if self.cpu { ClockKind::Cpu } else { default.kind };
        if self.backstop.is_some() && kind == ClockKind::Wall {
            return Err(Failure::usage("--backstop needs a clock that counts CPU time")
                .help("add --cpu, or limit the elapsed time of a turn with --move-time"));
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
        if self.move_time == Some(0) || bank_ms == Some(0) {
            return Err(Failure::usage("--clock and --move-time must be at least 1ms"));
        }
        settings.check().map_err(|error| Failure::usage(format!("clock: {error}")))?;
        Ok(settings)
    }

    /// Whether a time for turns is given.
    pub(super) fn is_given(&self) -> bool {
        self.bank(None).is_some() || self.move_time.is_some()
    }

    /// Whether --clock or --move-time is given.
    pub(super) fn is_explicit(&self) -> bool {
        self.clock.is_some() || self.move_time.is_some()
    }

    /// Returns --clock; without it, a preset and --move-time, the default.
    fn bank(&self, preset: Option<&Preset>) -> Option<String> {
        let is_default = preset.is_none() && self.move_time.is_none();
        self.clock.clone().or_else(|| self.default_clock.clone().filter(|_| is_default))
    }

    /// Returns the value of --clock that gives the same clock where the defaults are others, unless other
    /// options give it; of the `usual` clock, too.
    pub(super) fn implied(&self, preset: Option<&Preset>, usual: bool) -> Option<String> {
        if preset.is_some() || self.is_explicit() {
            return None;
        }
        self.default_clock.clone().or_else(|| usual.then(|| USUAL.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::ClockOptions;
    use clap::{Args, Command, FromArgMatches};
    use referee_contest::presets;
    use referee_protocol::ClockKind;

    fn options(words: &[&str]) -> ClockOptions {
        let command = ClockOptions::augment_args(Command::new("play").no_binary_name(true));
        ClockOptions::from_arg_matches(&command.try_get_matches_from(words).unwrap()).unwrap()
    }

    #[test]
    fn options_override_parts_of_a_preset() {
        let preset = presets::find("comp30024-2025");
        let settings = options(&[]).settings(preset, false).unwrap();
        assert_eq!(settings.kind, ClockKind::Cpu);
        assert_eq!((settings.bank_ms, settings.increment_ms), (Some(180_000), 0));
        assert_eq!((settings.backstop_ms, settings.start_ms), (Some(180_000), 180_000));
        // With a preset, a person has its clock too.
        assert_eq!(options(&[]).settings(preset, true).unwrap(), settings);
        let words = ["--clock", "9s+1s", "--backstop", "5s", "--move-time", "2s"];
        let settings = options(&words).settings(preset, false).unwrap();
        assert_eq!(settings.kind, ClockKind::Cpu);
        assert_eq!((settings.bank_ms, settings.increment_ms), (Some(9000), 1000));
        assert_eq!((settings.backstop_ms, settings.move_ms), (Some(5000), Some(2000)));
        let settings = options(&["--move-time", "2s"]).settings(preset, false).unwrap();
        assert_eq!((settings.bank_ms, settings.move_ms), (Some(180_000), Some(2000)));
    }

    #[test]
    fn all_arguments_give_the_clock_where_the_default_is_another() {
        for words in
            [&[][..], &["--clock", "9s"], &["--move-time", "2s"], &["--default-clock", "3s"]]
        {
            let given = options(words);
            let implied = given.implied(None, true).map(|clock| format!("--clock={clock}"));
            let own = words.iter().copied().filter(|_| given.is_explicit());
            let args = own.chain(implied.as_deref()).chain(["--default-clock=44s"]);
            let again = options(&args.collect::<Vec<_>>()).settings(None, false).unwrap();
            assert_eq!(again, given.settings(None, false).unwrap(), "{words:?}");
        }
        let preset = presets::find("comp30024-2025");
        let own = options(&["--default-clock", "3s"]).settings(preset, false).unwrap();
        assert_eq!(own.bank_ms, Some(180_000));
    }

    #[test]
    fn a_backstop_needs_cpu_time() {
        let failure = options(&["--backstop", "5s"]).settings(None, false).unwrap_err();
        assert!(failure.help_text().unwrap().contains("--cpu"), "{failure}");
        let settings = options(&["--backstop", "5s", "--cpu"]).settings(None, false).unwrap();
        assert_eq!(settings.backstop_ms, Some(5000));
    }
}
