//! `contest publish`: a static site with the standings, a page for each agent and a replay of each game.

use super::replay_pages::{match_page, write};
use super::report::of_stored;
use crate::cli::bars::{advance, count_bar, spinner};
use crate::cli::file_names::file_names;
use crate::cli::global::Global;
use crate::cli::output::{cell, eprint_line, print, table};
use clap::Args;
use jiff::Timestamp;
use rand::TryRng;
use rand::rngs::SysRng;
use referee_contest::report::{GameRow, LeftOut, PrivatePart, Report, TeamPages, escape_markdown};
use referee_contest::{ChangeKind, Contest, Player};
use referee_games::Games;
use referee_play::digest::digest_bytes;
use referee_process::Failure;
use referee_protocol::encode::to_hex;
use referee_runner::disk_failure;
use referee_runner::folder::Folder;
use referee_runner::results::report_failure;
use referee_runner::store::Store;
use referee_runner::{parallel, without_copies};
use referee_web::{MatchPage, replay_page, shared_files};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The file that marks a folder as a site, which may be replaced.
const MARKER: &str = ".referee-site";
/// The folders that are removed before a site is written again.
const FOLDERS: [&str; 4] = ["assets", "teams", "games", PRIVATE];
const PRIVATE: &str = "private";
/// The path from a replay page's folder to the site.
const REPLAY_ROOT: &str = "../..";
/// The most stderr of one game on a private page, in characters.
const STDERR_CHARACTERS_MAX: usize = 4000;
/// The random bytes in the name of a private page.
const TOKEN_BYTES: usize = 16;

/// Write a static site: standings, a page for each agent, a replay of each game
///
/// The site needs no server: it opens from disk and from any web host. The public pages show no
/// stderr. Each agent also has a private page, private/NAME-CODE.html, with the stderr of its
/// games; no page links to it, and its code can't be guessed. Prints the addresses of the private
/// pages. Writing a site again keeps their codes.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    referee contest publish contests/autumn --out site\n  \
    referee contest publish contests/autumn --out site --anonymous --feedback feedback")]
pub(super) struct Options {
    /// Contest folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Folder for the site: a new or empty one, or an earlier site, which is replaced
    #[arg(long, short, value_name = "SITE")]
    out: PathBuf,
    /// Call the agents Player 1, Player 2, ..
    #[arg(long)]
    anonymous: bool,
    /// Folder with feedback files of `contest check`, to show on the private pages
    #[arg(long, value_name = "DIR")]
    feedback: Option<PathBuf>,
}

/// The names of agents and of their pages, by player.
struct Names {
    /// The names in the contest.
    own: Vec<String>,
    /// The names that the site shows.
    shown: Vec<String>,
    /// The names of the pages, without ending.
    pages: Vec<String>,
    /// The submissions that don't play, also on an anonymous site.
    left_out: Vec<LeftOut>,
    /// When their agents joined, by player, if that was after the start.
    joined: Vec<Option<Timestamp>>,
    /// When the contest began.
    begun: String,
}

pub(super) fn run(options: &Options, global: &Global) -> Result<(), Failure> {
    let folder = Folder::open(&options.folder)?;
    let codes = prepare_site(&options.out)?;
    let spinner = spinner("computing the report", !global.quiet);
    let report = options.report(&folder);
    spinner.finish_and_clear();
    let (report, games, names) = report?;
    for (name, text) in shared_files() {
        write(&options.out.join(name), &text)?;
    }
    write(&options.out.join("index.html"), &report.site_html(&games, &names.pages))?;
    let stderr = replays(&folder, &options.out, &games, &names, global)?;
    let pages = TeamPages::new(&report, &games, &names.pages);
    for (player, page) in Player::all(names.pages.len()).zip(&names.pages) {
        write(&options.out.join(format!("teams/{page}.html")), &pages.page(player, None))?;
    }
    let private = options.private_pages(&pages, &names, stderr, &codes)?;
    print(&table(&private))?;
    if !global.quiet {
        eprint_line(&format!("site: {}", options.out.join("index.html").display()));
    }
    Ok(())
}

/// Makes an empty folder for a site. Returns the codes of its private pages, by whose they are, if there was a site.
fn prepare_site(site: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let failed = |error| disk_failure(site, &error);
    fs::create_dir_all(site).map_err(failed)?;
    let is_empty = fs::read_dir(site).map_err(failed)?.next().is_none();
    if !is_empty && !site.join(MARKER).exists() {
        let text = format!("--out {}: the folder is not empty", site.display());
        return Err(Failure::usage(text).help("choose a new folder, or one with an earlier site"));
    }
    let mut codes = BTreeMap::new();
    for entry in fs::read_dir(site.join(PRIVATE)).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let parts = name.strip_suffix(".html").and_then(|stem| stem.rsplit_once('-'));
        let is_code = |code: &str| code.len() == 2 * TOKEN_BYTES;
        if let Some((_, code)) = parts.filter(|(_, code)| is_code(code))
            && let Ok(text) = fs::read_to_string(entry.path())
            && let Some(whose) = text.lines().next_back()
        {
            codes.insert(whose.to_owned(), code.to_owned());
        }
    }
    write(&site.join(MARKER), "")?;
    for name in FOLDERS {
        let path = site.join(name);
        if path.exists() {
            fs::remove_dir_all(&path).map_err(|error| disk_failure(&path, &error))?;
        }
    }
    Ok(codes)
}

impl Options {
    /// Returns the report as the site shows it.
    fn report(&self, folder: &Folder) -> Result<(Report, Vec<GameRow>, Names), Failure> {
        let store = Store::open_to_read(folder)?;
        let mut stored = store.contest()?;
        let anonymous = self.anonymous || stored.contest.anonymous;
        let own: Vec<String> = stored.contest.players.iter().map(|it| it.name.clone()).collect();
        if anonymous {
            // By digest: the order of the names would show who is who.
            let mut order: Vec<_> = stored.contest.players.iter_mut().collect();
            order.sort_by(|one, other| one.digest.cmp(&other.digest));
            for (number, player) in (1..).zip(order) {
                player.name = format!("Player {number}");
            }
        }
        let players = stored.contest.players.iter();
        let shown: Vec<String> = players.map(|player| player.name.clone()).collect();
        let mut report = of_stored(folder, &stored, &store)?.report;
        let games = report.games.rows().map_err(|error| report_failure(error, &folder.store()))?;
        // Its commands are for the organiser.
        report.commands.clear();
        let left_out = report.left_out.clone();
        if anonymous {
            report.left_out.clear();
            // Reasons may have names.
            report.changes.clear();
        }
        let pages = file_names(shown.iter().map(String::as_str));
        let (joined, begun) = (joined(&stored.contest), stored.begun);
        Ok((report, games, Names { own, shown, pages, left_out, joined, begun }))
    }

    /// Writes the private pages; returns each agent's name and its page.
    fn private_pages(
        &self,
        pages: &TeamPages<'_>,
        names: &Names,
        mut stderr: BTreeMap<Player, Vec<(u64, String)>>,
        codes: &BTreeMap<String, String>,
    ) -> Result<Vec<Vec<String>>, Failure> {
        // Web hosts then don't list the folder.
        write(
            &self.out.join(PRIVATE).join("index.html"),
            "<!doctype html>\n<title>Private</title>\n",
        )?;
        let left_out = names.left_out.iter().map(|own| own.name.as_str());
        let mut own = file_names(names.own.iter().map(String::as_str).chain(left_out)).into_iter();
        let (mut rows, feedback_in) = (Vec::new(), self.feedback.as_deref());
        // Returns the path of the page, which it writes.
        let put = |page: &str, name: &str, html: &str| {
            let whose = whose(&names.begun, name);
            let code = codes.get(&whose).map_or_else(new_code, |code| Ok(code.clone()))?;
            let path = format!("{PRIVATE}/{page}-{code}.html");
            write(&self.out.join(&path), &format!("{}\n{whose}\n", html.trim_end()))?;
            Ok::<_, Failure>(path)
        };
        let players = Player::all(names.own.len()).zip(&names.own);
        for (((player, name), joined), page) in players.zip(&names.joined).zip(own.by_ref()) {
            let private = PrivatePart {
                stderr: stderr.remove(&player).unwrap_or_default(),
                check: feedback_in.and_then(|folder| feedback(folder, &page, name, *joined)),
            };
            let path = put(&page, name, &pages.page(player, Some(&private)))?;
            rows.push(vec![cell(name), path]);
        }
        for (own, page) in names.left_out.iter().zip(own) {
            let check = |folder: &Path| feedback(folder, &page, &own.name, None);
            if let Some(check) = feedback_in.and_then(check) {
                let path = put(&page, &own.name, &pages.left_out_page(own, &check))?;
                rows.push(vec![cell(&own.name), path]);
            }
        }
        Ok(rows)
    }
}

/// Returns the last line of a private page, which says whose it is: pages of others may have its name when the site is
/// written again.
fn whose(begun: &str, name: &str) -> String {
    format!("<!-- {} -->", digest_bytes(format!("{begun}\n{name}").as_bytes()))
}

/// Returns when the agents of the players that a change has added or replaced joined, by player.
fn joined(contest: &Contest) -> Vec<Option<Timestamp>> {
    let mut joined = vec![None; contest.players.len()];
    for change in &contest.changes {
        let name = match &change.kind {
            ChangeKind::Add { player, .. } => &player.name,
            ChangeKind::Replace { after, .. } => &after.name,
            _ => continue,
        };
        let at = contest.players.iter().position(|player| player.name == *name);
        if let Some(joined) = at.and_then(|at| joined.get_mut(at)) {
            *joined = change.at.parse().ok();
        }
    }
    joined
}

/// Returns the feedback file of an agent, if there is one. An older one is of another agent with this name, such as one that
/// was left out.
fn feedback(folder: &Path, page: &str, name: &str, joined: Option<Timestamp>) -> Option<String> {
    let path = folder.join(format!("{page}.md"));
    let written = Timestamp::try_from(path.metadata().ok()?.modified().ok()?).ok()?;
    let text = fs::read_to_string(path).ok().filter(|_| joined.is_none_or(|at| at <= written))?;
    // Another agent's file may have this name, if both are alike.
    text.starts_with(&format!("# {}: ", escape_markdown(name))).then_some(text)
}

fn new_code() -> Result<String, Failure> {
    let mut bytes = [0; TOKEN_BYTES];
    SysRng.try_fill_bytes(&mut bytes).map_err(|error| {
        Failure::machine(format!("cannot get random bytes from the system: {error}"))
    })?;
    Ok(to_hex(&bytes))
}

/// Writes the replay pages. Returns the stderr of each player, by game.
fn replays(
    folder: &Folder,
    site: &Path,
    games: &[GameRow],
    names: &Names,
    global: &Global,
) -> Result<BTreeMap<Player, Vec<(u64, String)>>, Failure> {
    let bar = count_bar("writing replays", !global.quiet);
    let known = global.games(&folder.store())?;
    let written = parallel::map(games, None, &|done, of| advance(&bar, done, of), |game| {
        replay(folder, &known, site, game, names)
    });
    bar.finish_and_clear();
    let mut all: BTreeMap<Player, Vec<(u64, String)>> = BTreeMap::new();
    for (game, stderr) in games.iter().zip(written) {
        for (&player, text) in game.players.iter().zip(stderr?) {
            if !text.is_empty() {
                all.entry(player).or_default().push((game.number, text));
            }
        }
    }
    Ok(all)
}

/// Writes the replay page of a game. Returns the stderr of each seat.
fn replay(
    folder: &Folder,
    games: &Games,
    site: &Path,
    game: &GameRow,
    names: &Names,
) -> Result<Vec<String>, Failure> {
    let Some(page) = match_page(folder, games, game, &names.shown)? else { return Ok(Vec::new()) };
    let stderr = (0..game.players.len()).map(|seat| stderr(&page, seat)).collect();
    let html = replay_page(&page.public(&[]), REPLAY_ROOT, "index.html");
    write(&site.join(Path::new(&game.transcript).with_extension("html")), &html)?;
    Ok(stderr)
}

/// Returns the stderr of a seat, by turns; of much, the end.
fn stderr(page: &MatchPage, seat: usize) -> String {
    let mut text = String::new();
    for ply in &page.progress.plies {
        for piece in ply.stderr.iter().filter(|piece| piece.seat.index() == seat) {
            writeln!(text, "turn {}: {}", ply.turn, piece.text.trim_end()).ok();
        }
    }
    let text = without_copies(&text);
    let characters = text.chars().count();
    match characters.checked_sub(STDERR_CHARACTERS_MAX) {
        None | Some(0) => text,
        Some(more) => format!("..\n{}", text.chars().skip(more).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::feedback;
    use jiff::{SignedDuration, Timestamp};
    use std::fs;

    #[test]
    fn feedback_for_an_earlier_agent_of_the_name_is_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let text = "# amy: the check failed\n";
        fs::write(folder.path().join("amy.md"), text).unwrap();
        let shown = |name, joined| feedback(folder.path(), "amy", name, joined);
        let hour = SignedDuration::from_hours(1);
        assert_eq!(shown("amy", None).as_deref(), Some(text));
        assert_eq!(shown("amy", Some(Timestamp::now() - hour)).as_deref(), Some(text));
        assert_eq!(shown("amy", Some(Timestamp::now() + hour)), None);
        assert_eq!(shown("am", None), None);
    }
}
