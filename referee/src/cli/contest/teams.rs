//! `contest teams` and `contest invite`: the teams that hand in on the web.

use crate::cli::global::Global;
use crate::cli::output::{cell, print, print_json, table};
use clap::Args;
use jiff::tz::TimeZone;
use referee_contest::Contest;
use referee_process::files::read_regular;
use referee_process::{Failure, FailureKind};
use referee_runner::changing::own_name;
use referee_runner::course::{Act, Done, Secret, Team, Teams, act, moment, read_list};
use referee_runner::folder::Folder;
use referee_runner::store::Store;
use referee_web::ProxiedAddress;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The largest list of teams, in bytes.
const LIST_BYTES_MAX: u64 = 4 << 20;
/// The address of the links until a site has run.
const ADDRESS: &str = "http://127.0.0.1:8017";

/// List the teams that hand in on the web, and make their links
///
/// A link lets its team hand in, and see its own output. Only its hash is stored, so it is printed once,
/// when the team is added; --renew makes a new one. Works while the contest is open.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest teams ladder --from teams.csv\n  \
    referee contest teams ladder --renew \"Team 7\"\n  \
    referee contest teams ladder --instructor")]
pub(super) struct Options {
    /// Contest folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// List of teams, CSV with the columns name, id, members: new teams are added, and the ids and members
    /// of known ones are updated
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Team to give a new link; the one before stops working (repeatable)
    #[arg(long, value_name = "NAME")]
    renew: Vec<String>,
    /// Give all teams new links
    #[arg(long, conflicts_with = "renew")]
    renew_all: bool,
    /// Make a link to the instructor's page; the one before stops working
    #[arg(long)]
    instructor: bool,
    /// Address of the site, for the links. Defaults to that of the last `contest open`
    #[arg(long, value_name = "URL", value_parser = ProxiedAddress::read)]
    url: Option<ProxiedAddress>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Add a team that hands in on the web, or extend its deadline
///
/// Prints the link of a new team.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest invite ladder \"Team 7\" --id s1234\n  \
    referee contest invite ladder \"Team 7\" --until \"2026-12-24 18:00\"")]
pub(super) struct InviteOptions {
    /// Contest folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Name of the team
    name: String,
    /// Its id in the course's own system
    #[arg(long, default_value = "")]
    id: String,
    /// Its members, separated by ;
    #[arg(long, value_name = "NAMES", default_value = "")]
    members: String,
    /// Time until which it may hand in, if that is later than the deadline, such as `2026-12-24 18:00`
    #[arg(long, value_name = "TIME", value_parser = read_moment)]
    until: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn read_moment(text: &str) -> Result<String, String> {
    moment(text, &TimeZone::system()).map(|at| at.to_string())
}

/// The teams of a contest.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Teams")]
pub(crate) struct TeamsReport {
    /// The teams, by number.
    teams: Vec<TeamRow>,
    /// The link to the instructor's page, if that was made just now.
    #[serde(skip_serializing_if = "Option::is_none")]
    instructor: Option<String>,
}

/// A team.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CourseTeam")]
struct TeamRow {
    /// Its name.
    name: String,
    /// Its id in the course's own system; empty if there is none.
    id: String,
    /// Its members.
    members: Vec<String>,
    /// Its own deadline, RFC 3339.
    until: Option<String>,
    /// Its link, if that was made just now.
    link: Option<String>,
}

impl TeamRow {
    fn new(team: &Team, secret: Option<&Secret>, address: &str) -> Self {
        Self {
            name: team.name.clone(),
            id: team.id.clone(),
            members: team.members.clone(),
            until: team.until.clone(),
            // Browsers send nothing after the # to a server, so the secret is in no log.
            link: secret.map(|secret| format!("{address}/team#{}", secret.text())),
        }
    }
}

/// Returns the contest in a folder.
pub(super) fn contest(folder: &Path) -> Result<(Folder, Contest), Failure> {
    let folder = Folder::open(folder).map_err(|failure| match failure.kind() {
        FailureKind::Usage => {
            failure.help("begin one with `referee contest open FILE --out DIR --web`")
        }
        _ => failure,
    })?;
    let contest = Store::open_to_read(&folder)?.contest()?.contest;
    Ok((folder, contest))
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    let (folder, contest) = contest(&options.folder)?;
    let list = options.from.as_ref().map(|path| {
        let read = read_regular(path, LIST_BYTES_MAX);
        let bytes =
            read.map_err(|error| Failure::usage(format!("--from {}: {error}", path.display())))?;
        read_list(&bytes)
    });
    let list = list.transpose()?.unwrap_or_default();
    let renews = options.renew_all || !options.renew.is_empty();
    let changes = !list.is_empty() || renews || options.instructor;
    let teams = Teams::read(&folder)?;
    let (teams, secrets, instructor) = if changes || options.url.is_some() {
        Teams::change(&folder, |teams| {
            if let Some(url) = &options.url {
                teams.address = Some(url.origin());
            }
            let (mut secrets, by) = (BTreeMap::new(), own_name());
            for new in &list {
                if let Some(secret) = teams.add(new, &contest)? {
                    let number = teams.named(&new.name)?.number;
                    secrets.insert(number, secret);
                }
            }
            if !list.is_empty() {
                let (new, known) = (secrets.len(), list.len() - secrets.len());
                teams.enter(&by, &format!("teams of a list: {new} added, {known} updated"), None);
            }
            let all = teams.teams.iter().map(|team| team.name.clone());
            let names = if options.renew_all { all.collect() } else { options.renew.clone() };
            for name in names {
                let team = teams.named(&name)?;
                secrets.insert(team.number, team.renew()?);
                let text = format!("{} has a new link", team.name);
                if !options.renew_all {
                    teams.enter(&by, &text, None);
                }
            }
            if options.renew_all {
                teams.enter(&by, "all teams have new links", None);
            }
            if options.instructor {
                teams.enter(&by, "the instructor has a new link", None);
            }
            let instructor = options.instructor.then(|| teams.renew_instructor()).transpose()?;
            Ok((teams.clone(), secrets, instructor))
        })?
    } else {
        (teams, BTreeMap::new(), None)
    };
    let address = address(&teams, global, !secrets.is_empty() || instructor.is_some());
    let instructor = instructor.map(|secret| format!("{address}/instructor#{}", secret.text()));
    let rows = teams.teams.iter();
    let rows = rows.map(|team| TeamRow::new(team, secrets.get(&team.number), &address));
    let report = TeamsReport { teams: rows.collect(), instructor };
    if options.json {
        return print_json(&report);
    }
    if let Some(link) = report.instructor {
        return print(&(link + "\n"));
    }
    if report.teams.is_empty() {
        global.note(["there are no teams; add them with --from teams.csv"]);
    }
    let cells = |row: &TeamRow| {
        let link = row.link.clone().unwrap_or_else(|| "(made before)".to_owned());
        vec![cell(&row.name), cell(&row.id), link]
    };
    print(&table(&report.teams.iter().map(cells).collect::<Vec<_>>()))
}

/// Returns the address of the site, for links.
fn address(teams: &Teams, global: &Global, is_used: bool) -> String {
    teams.address.clone().unwrap_or_else(|| {
        if is_used {
            global.note([format!(
                "the links begin with {ADDRESS}; for another address use --url with --renew-all"
            )]);
        }
        ADDRESS.to_owned()
    })
}

pub(super) fn invite(options: &InviteOptions, global: &Global) -> Result<(), Failure> {
    let (folder, _) = contest(&options.folder)?;
    let InviteOptions { name, id, members, until, .. } = options;
    let invite = Act::Invite {
        name: name.clone(),
        id: id.clone(),
        members: members.clone(),
        until: until.clone().unwrap_or_default(),
    };
    let Done { teams, team, secret, .. } = act(&folder, invite, &own_name())?;
    let Some(team) = team else { return Ok(()) };
    let row = TeamRow::new(&team, secret.as_ref(), &address(&teams, global, secret.is_some()));
    if options.json {
        return print_json(&row);
    }
    if row.link.is_none() && options.until.is_none() {
        global
            .note(["the team is there already; `contest teams DIR --renew NAME` makes a new link"]);
    }
    let until = row.until.map(|until| format!("until {until}"));
    let cells = [Some(cell(&row.name)), row.link, until];
    print(&table(&[cells.into_iter().flatten().collect()]))
}
