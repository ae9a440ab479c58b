//! The probes as they are told: a line each, and what is to be said of those that failed.

use super::Options;
use super::judge::{Failed, Judged};
use super::probes::Probe;
use crate::cli::Global;
use crate::cli::output::{print, print_json};
use crate::cli::rows::Rows;
use crate::cli::words::{join, option};
use referee_games::GameKind;
use referee_play::agent_spec::AgentSpec;
use referee_process::Failure;
use referee_protocol::Seat;
use referee_protocol::plain::tame;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use std::process::ExitCode;

/// How many lines of stderr are shown.
const STDERR_LINES: usize = 12;

/// A check as `check --json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Told {
    /// The agent, as it was written.
    agent: String,
    /// Its name; null where it can't be read.
    name: Option<String>,
    /// SHA-256 of the agent, in hex; null where it can't be read.
    digest: Option<String>,
    /// The games that it was tried in.
    games: Vec<String>,
    /// Whether all probes that were made passed.
    ok: bool,
    /// Whether the same seed gave the same actions twice; null where that was not seen.
    pub(super) deterministic: Option<bool>,
    /// The probes, in their order.
    probes: Vec<ToldProbe>,
}

/// One probe in [`Told`].
#[derive(Debug, Serialize, JsonSchema)]
struct ToldProbe {
    /// Its place in the list, from 1.
    number: usize,
    /// How it is called on the command line.
    name: String,
    /// What is expected.
    title: String,
    /// The game that it was made in.
    game: String,
    /// The agent's seat.
    seat: Seat,
    /// How it came out.
    status: Status,
    /// Something worth knowing of a probe that passed.
    note: Option<String>,
    /// What was wrong, of a probe that failed.
    failure: Option<Box<Failed>>,
    /// The command that makes this probe alone.
    again: String,
}

#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    /// As expected.
    Passed,
    /// Not as expected.
    Failed,
    /// Not made, since an earlier one failed.
    PassedOver,
}

/// What is told, as it comes.
pub(super) struct Report<'a> {
    options: &'a Options,
    quiet: bool,
    pub(super) told: Told,
}

impl<'a> Report<'a> {
    pub(super) fn new(
        options: &'a Options,
        global: &Global,
        spec: Option<&AgentSpec>,
        kinds: &[GameKind],
    ) -> Self {
        let told = Told {
            agent: options.agent.clone(),
            name: spec.map(|spec| spec.name.clone()),
            digest: spec.map(|spec| spec.digest.clone()),
            games: kinds.iter().map(|kind| kind.name.to_owned()).collect(),
            ok: true,
            deterministic: None,
            probes: Vec::new(),
        };
        Self { options, quiet: global.quiet, told }
    }

    pub(super) fn begin(&self) -> Result<(), Failure> {
        if self.options.json || self.quiet {
            return Ok(());
        }
        let name = self.told.name.as_deref().unwrap_or(&self.told.agent);
        print(&format!("check {} in {}\n", tame(name), self.told.games.join(", ")))
    }

    pub(super) fn take(&mut self, probe: &Probe, judged: Judged) -> Result<(), Failure> {
        let again = self.again(probe);
        if !self.options.json && (!self.quiet || judged.failed()) {
            print(&line(probe, &judged, &again))?;
        }
        self.told.ok &= !judged.failed();
        let (status, note, failure) = match judged {
            Judged::Passed(note) => (Status::Passed, note, None),
            Judged::PassedOver => (Status::PassedOver, None, None),
            Judged::Failed(failed) => (Status::Failed, None, Some(failed)),
        };
        self.told.probes.push(ToldProbe {
            number: probe.number,
            name: probe.name.clone(),
            title: probe.title.clone(),
            game: probe.kind.name.to_owned(),
            seat: probe.seat,
            status,
            note,
            failure,
            again,
        });
        Ok(())
    }

    /// The command that makes one probe.
    fn again(&self, probe: &Probe) -> String {
        let options = self.options;
        let mut words = ["referee", "check", &options.agent].map(str::to_owned).to_vec();
        words.extend(options.game.iter().flat_map(|game| option("--game", Some(game))));
        words.extend(options.setup.iter().flat_map(|pair| option("--setup", Some(pair))));
        words.extend(option("--probe", Some(&probe.name)));
        words.extend(option("--seed", Some(options.seed).filter(|&seed| seed != 1)));
        words.extend(options.preset.words());
        join(&words)
    }

    pub(super) fn finish(self) -> Result<ExitCode, Failure> {
        if self.options.json {
            print_json(&self.told)?;
        } else if !self.quiet {
            print(&self.summary())?;
        }
        Ok(if self.told.ok { ExitCode::SUCCESS } else { ExitCode::from(Failure::AGENT) })
    }

    fn summary(&self) -> String {
        let count = |status| self.told.probes.iter().filter(|it| it.status == status).count();
        let (passed, failed) = (count(Status::Passed), count(Status::Failed));
        let over = count(Status::PassedOver);
        let mut text = format!("{passed} passed, {failed} failed");
        if over > 0 {
            write!(text, ", {over} not made, since none could pass").ok();
        }
        match self.told.deterministic {
            Some(true) => text.push_str("; the same seed gave the same actions"),
            Some(false) => text.push_str("; the same seed gave other actions"),
            None => {}
        }
        text.push('\n');
        if failed == 0 {
            let game = self.told.games.first().map_or("", String::as_str);
            let agent = join(&[&self.options.agent]);
            let others = crate::cli::setup::find_kind(game)
                .and_then(|kind| crate::cli::setup::start(kind, &serde_json::json!({})))
                .map_or(0, |game| game.seats() - 1);
            let others = " @random".repeat(others);
            let preset = self.options.preset.preset;
            let preset = preset.map_or(String::new(), |it| format!(" --preset {}", it.name));
            writeln!(text, "next: referee play {game} {agent}{others}{preset}").ok();
        }
        text
    }
}

/// One probe in words.
fn line(probe: &Probe, judged: &Judged, again: &str) -> String {
    let (green, red, dim, off) = ("\x1b[32m", "\x1b[1;31m", "\x1b[2m", "\x1b[0m");
    let (number, title) = (probe.number, &probe.title);
    match judged {
        Judged::Passed(note) => {
            let note = note.as_ref().map_or(String::new(), |note| format!("  {dim}({note}){off}"));
            format!("{number:3} {green}ok{off}      {title}{note}\n")
        }
        Judged::PassedOver => String::new(),
        Judged::Failed(failed) => {
            format!("{number:3} {red}FAILED{off}  {title}\n{}", explain(failed, again))
        }
    }
}

fn explain(failed: &Failed, again: &str) -> String {
    let mut rows = Rows::new(6, 7);
    rows.words("what", &failed.what);
    for (index, line) in failed.sent.lines().enumerate() {
        // What the agent didn't know is what matters of a message.
        let unknown = line.find("\"x_new").map(|index| index + 1);
        rows.line(if index == 0 { "sent" } else { "" }, line.as_bytes(), unknown);
    }
    match &failed.got {
        Some(line) => rows.line("got", line, failed.at_byte),
        None if !failed.sent.is_empty() => rows.words("got", "nothing"),
        None => {}
    }
    let lines: Vec<&str> = failed.stderr.lines().collect();
    for (index, line) in lines.iter().rev().take(STDERR_LINES).rev().enumerate() {
        rows.whole(if index == 0 { "stderr" } else { "" }, &tame(line));
    }
    rows.words("why", failed.why);
    rows.words("fix", &failed.fix);
    rows.whole("again", again);
    rows.finish()
}
