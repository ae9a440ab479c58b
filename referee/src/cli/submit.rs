//! `submit`: hands in an agent to a course's site, and waits for what becomes of it.

use super::global::Global;
use super::output::{eprint_line, print, print_json};
use clap::Args;
use jiff::Timestamp;
use referee_contest::report::plain_text;
use referee_play::archives::pack;
use referee_process::Failure;
use referee_process::files::read_at_most;
use referee_protocol::sanitize::{sanitize, sanitize_lines};
use referee_runner::course::{StepName, StepReport, StepState, VersionReport};
use referee_web::ProxiedAddress;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use ureq::Agent;
use ureq::http::Response;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::multipart::{Form, Part};
use ureq::{Body, Error};

/// The environment variable with a team's link or secret.
const SECRET_VARIABLE: &str = "REFEREE_TEAM";
/// The largest file with one, in bytes.
const SECRET_BYTES_MAX: u64 = 4096;
/// The largest file that is handed in, in bytes; the site's own limit is less.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// How often the site is asked, and how long it may be away.
const PERIOD: Duration = Duration::from_secs(1);
const AWAY_MAX: u32 = 300;
/// How long the site may take to take an upload, and to answer.
const UPLOAD_TIME: Duration = Duration::from_secs(900);
const ANSWER_TIME: Duration = Duration::from_secs(60);

/// Hand in an agent to a course's site, and wait until it plays
///
/// Prints each step: received, unpacked, built, checked, playing. Your team's link, or its part after the #, must be
/// in the environment variable `REFEREE_TEAM` or in a file.
#[derive(Debug, Args)]
#[command(
    after_long_help = "Exit codes: 0 it plays, 1 the site refused or can't be reached, 3 the agent can't play\n\n\
    Examples:\n  \
    referee submit mybot --to https://course.example.org --team-file ~/.team\n  \
    referee submit bot.py --to https://course.example.org --command \"python3 bot.py --fast\""
)]
pub(super) struct Options {
    /// Agent: a folder, an archive (.zip, .tar.gz) or a file
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Address of the site. Defaults to that of the team's link
    #[arg(long, value_name = "URL", value_parser = ProxiedAddress::read)]
    to: Option<ProxiedAddress>,
    /// File with the team's link or its part after the #. Defaults to the environment variable `REFEREE_TEAM`
    #[arg(long, value_name = "FILE")]
    team_file: Option<PathBuf>,
    /// Command that starts the agent, if it has no agent.toml. Defaults to the one that the site finds
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,
    /// Return as soon as the site has it
    #[arg(long)]
    no_wait: bool,
    /// Print one JSON object at the end
    #[arg(long)]
    json: bool,
}

/// What became of a version.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Submitted")]
pub(super) struct SubmitReport {
    /// The version.
    version: VersionReport,
    /// The feedback of its check, as Markdown.
    feedback: Option<String>,
}

#[derive(Deserialize)]
struct Accepted {
    version: u32,
}

#[derive(Deserialize)]
struct Refused {
    error: String,
    help: Option<String>,
    again: Option<String>,
}

/// A course's site, for one team.
struct Site {
    agent: Agent,
    address: String,
    secret: String,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<ExitCode, Failure> {
    let site = options.site()?;
    let (name, bytes) = options.bytes()?;
    let version = site.hand_in(&name, &bytes, options.command.as_deref())?;
    if !global.quiet {
        eprint_line(&format!("handed in as version {version}"));
    }
    let mut report = site.version(version)?;
    let (mut shown, mut said) = (0, None);
    loop {
        if !options.json {
            shown = print_steps(&report.version.steps, shown)?;
        }
        let until = &report.version.waits_until;
        if let Some(text) = until.as_ref().filter(|_| said != *until).and_then(|it| waits(it)) {
            global.note([text]);
            said.clone_from(until);
        }
        if report.version.settled || options.no_wait {
            break;
        }
        std::thread::sleep(PERIOD);
        report = site.version_when_there(version)?;
    }
    if options.json {
        print_json(&report)?;
    } else if report.version.why.is_some()
        && let Some(feedback) = &report.feedback
    {
        print(&format!("\n{}\n", sanitize_lines(&plain_text(feedback)).trim_end()))?;
    }
    let plays = !report.version.settled || report.version.player.is_some();
    Ok(if plays { ExitCode::SUCCESS } else { ExitCode::from(3) })
}

/// Says that a version waits until this time.
fn waits(until: &str) -> Option<String> {
    let left = until.parse::<Timestamp>().ok()?.duration_since(Timestamp::now()).as_secs();
    (left > 0).then(|| {
        format!(
            "it waits about {left} s for its turn: 20 times as long as it took to build and check your version \
             before it"
        )
    })
}

/// Prints the steps that have ended since. Returns how many were printed in all.
fn print_steps(steps: &[StepReport], shown: usize) -> Result<usize, Failure> {
    let ended = |step: &&StepReport| matches!(step.state, StepState::Done | StepState::Failed);
    let all: Vec<&StepReport> = steps.iter().filter(ended).collect();
    for step in all.iter().skip(shown) {
        let name = match step.step {
            StepName::Received => "received",
            StepName::Unpacked => "unpacked",
            StepName::Built => "built",
            StepName::Checked => "checked",
            StepName::Playing => "playing",
        };
        let text = step.text.as_deref().map(|text| format!(": {}", sanitize(text)));
        let failed = if step.state == StepState::Failed { " failed" } else { "" };
        print(&format!("{name}{failed}{}\n", text.unwrap_or_default()))?;
    }
    Ok(all.len())
}

impl Options {
    /// Returns the team's link or secret.
    fn secret(&self) -> Result<String, Failure> {
        let text = if let Some(path) = &self.team_file {
            let bytes = read_at_most(path, SECRET_BYTES_MAX).map_err(|error| {
                Failure::usage(format!("--team-file {}: {error}", path.display()))
            })?;
            String::from_utf8_lossy(&bytes).into_owned()
        } else {
            std::env::var(SECRET_VARIABLE).map_err(|_| {
                Failure::usage("the team's link is missing").help(format!(
                    "put the link that your instructor sent you into the environment variable \
                     {SECRET_VARIABLE}, or into a file for --team-file"
                ))
            })?
        };
        Ok(text.trim().to_owned())
    }

    fn site(&self) -> Result<Site, Failure> {
        let text = self.secret()?;
        let (link, secret) = text.rsplit_once('#').unwrap_or(("", &text));
        let is_plain = !secret.is_empty() && secret.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_plain {
            return Err(Failure::usage("this is neither a team's link nor its part after the #")
                .help("copy the whole link that your instructor sent you"));
        }
        let of_link = || ProxiedAddress::read(link.strip_suffix("/team")?).ok();
        let address = self.to.clone().or_else(of_link).ok_or_else(|| {
            Failure::usage("the address of the site is missing").help("give it with --to URL")
        })?;
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        // A redirect could lead the secret elsewhere.
        let config = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(UPLOAD_TIME))
            .build();
        let (address, secret) = (address.origin(), secret.to_owned());
        Ok(Site { agent: config.into(), address, secret })
    }

    /// Returns what is sent, with its name.
    fn bytes(&self) -> Result<(String, Vec<u8>), Failure> {
        let failed = |error: std::io::Error| {
            Failure::usage(format!("{}: {error}", self.path.display()))
                .help("give a folder, an archive (.zip, .tar.gz) or a file")
        };
        let name = |path: &Path| {
            let path = path.canonicalize().map_err(failed)?;
            Ok::<_, Failure>(path.file_name().unwrap_or_default().to_string_lossy().into_owned())
        };
        if self.path.is_dir() {
            return Ok((
                format!("{}.tar.gz", name(&self.path)?),
                pack(&self.path, FILE_BYTES_MAX).map_err(failed)?,
            ));
        }
        Ok((name(&self.path)?, read_at_most(&self.path, FILE_BYTES_MAX).map_err(failed)?))
    }
}

impl Site {
    fn unreachable(&self, error: &Error) -> Failure {
        let text = error.to_string();
        Failure::operation(format!("{}: {text}", self.address)).help(if is_untrusted(&text) {
            "nothing was sent: this machine doesn't trust the site's certificate. If it is of a CA of your own, name \
             the file with the CA's certificate in the environment variable SSL_CERT_FILE"
        } else {
            "check the address, and whether the site runs"
        })
    }

    fn hand_in(&self, name: &str, bytes: &[u8], command: Option<&str>) -> Result<u32, Failure> {
        let mut form = Form::new().part("file", Part::bytes(bytes).file_name(name));
        if let Some(command) = command {
            form = form.text("command", command);
        }
        let url = format!("{}/api/team/versions", self.address);
        let sent = self.agent.post(url).header("authorization", self.authorization()).send(form);
        let answer = sent.map_err(|error| {
            let failure = self.unreachable(&error);
            if !may_have_arrived(&error) {
                return failure;
            }
            failure.help(
                "it may not have arrived; if it did, handing in the same files again plays them once",
            )
        })?;
        read::<Accepted>(answer).map(|accepted| accepted.version)
    }

    fn version(&self, version: u32) -> Result<SubmitReport, Failure> {
        self.asked(version).map_err(|error| self.unreachable(&error)).and_then(read)
    }

    /// The same, if the site may be away for a while: it is started again, for example.
    fn version_when_there(&self, version: u32) -> Result<SubmitReport, Failure> {
        let mut left = AWAY_MAX;
        loop {
            match self.asked(version) {
                Err(_) if left > 0 => left -= 1,
                // A proxy answers for a site that is away.
                Ok(answer) if answer.status().is_server_error() && left > 0 => left -= 1,
                answer => return answer.map_err(|error| self.unreachable(&error)).and_then(read),
            }
            std::thread::sleep(PERIOD);
        }
    }

    fn asked(&self, version: u32) -> Result<Response<Body>, Error> {
        let url = format!("{}/api/team/version?version={version}", self.address);
        let request = self.agent.get(url).header("authorization", self.authorization());
        request.config().timeout_global(Some(ANSWER_TIME)).build().call()
    }

    fn authorization(&self) -> String {
        format!("Bearer {}", self.secret)
    }
}

/// Whether a request failed because of the site's certificate.
fn is_untrusted(error: &str) -> bool {
    error.contains("certificate")
}

/// Whether a request that failed may have been sent: there was a connection that can be trusted.
fn may_have_arrived(error: &Error) -> bool {
    match error {
        Error::HostNotFound | Error::ConnectionFailed => false,
        Error::Io(io) if io.kind() == ErrorKind::ConnectionRefused => false,
        _ => !is_untrusted(&error.to_string()),
    }
}

/// Reads the site's answer, or why it refused.
fn read<T: DeserializeOwned>(mut answer: Response<Body>) -> Result<T, Failure> {
    let status = answer.status();
    let text = answer.body_mut().read_to_string();
    let text = text.map_err(|error| Failure::operation(format!("the site's answer: {error}")))?;
    if status.is_success() {
        return serde_json::from_str(&text).map_err(|error| {
            Failure::operation(format!("the site's answer: {error}"))
                .help("is this the address of a course's site, and of the same version?")
        });
    }
    let refused = serde_json::from_str::<Refused>(&text).map_err(|_| {
        Failure::operation(format!("the site answered with {status}"))
            .help("check the address of the site")
    })?;
    let again = refused.again.map(|again| format!("try again at {}", sanitize(&again)));
    let help = refused.help.map(|help| sanitize(&help));
    Err(Failure::operation(sanitize(&refused.error)).or_help(help.or(again)))
}

#[cfg(test)]
mod tests {
    use super::{Site, may_have_arrived, waits};
    use jiff::{SignedDuration, Timestamp};
    use std::io;
    use ureq::Error;

    #[test]
    fn it_says_how_long_a_version_waits() {
        let until = |seconds| (Timestamp::now() + SignedDuration::from_secs(seconds)).to_string();
        assert!(waits(&until(45)).unwrap().starts_with("it waits about 4"));
        assert_eq!((waits(&until(-1)), waits("soon")), (None, None));
    }

    #[test]
    fn only_what_may_have_been_sent_is_said_to_be() {
        let io = |kind, text: &str| Error::Io(io::Error::new(kind, text.to_owned()));
        let untrusted = "invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))";
        let site = Site { agent: ureq::agent(), address: "https://x".into(), secret: "0".into() };
        for (error, arrived, help) in [
            (Error::HostNotFound, false, "check the address"),
            (io(io::ErrorKind::ConnectionRefused, "refused"), false, "check the address"),
            (io(io::ErrorKind::InvalidData, untrusted), false, "SSL_CERT_FILE"),
            (io(io::ErrorKind::ConnectionReset, "reset"), true, "check the address"),
        ] {
            assert_eq!(may_have_arrived(&error), arrived, "{error}");
            let failure = site.unreachable(&error);
            assert!(failure.help_text().unwrap().contains(help), "{error}");
        }
    }
}
