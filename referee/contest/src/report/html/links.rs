//! Where the links of a page lead.

use super::markup::{Link, Name, Text};
use crate::Player;
use crate::report::GameRow;

/// The ending of transcripts, and of pages.
const ENDINGS: (&str, &str) = (".jsonl", ".html");

/// Returns the path of a game's replay page in the contest's folder, from that of its transcript there.
pub fn replay_path(transcript: &str) -> Option<String> {
    let name = transcript.strip_prefix("games/")?.strip_suffix(ENDINGS.0)?;
    Some(format!("replays/{name}{}", ENDINGS.1))
}

/// Where the links of a page lead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links<'a> {
    /// The relative path from the page's folder to the contest's, or to the site.
    pub(super) root: &'a str,
    /// Whether games have replay pages.
    pub(super) replays: bool,
    /// In a published site: the path of each player's page without its ending.
    pub(super) teams: Option<&'a [String]>,
}

impl Links<'_> {
    /// Returns a game's number with a link to its replay page, or to its transcript; without one if it was
    /// not played.
    pub(super) fn game(&self, game: &GameRow) -> String {
        let (own, number) = (game.transcript.as_str(), game.number);
        if own.is_empty() {
            return number.to_string();
        }
        let page = match self.teams {
            _ if !self.replays => None,
            None => replay_path(own),
            Some(_) => own.strip_suffix(ENDINGS.0).map(|stem| format!("{stem}{}", ENDINGS.1)),
        };
        let link = Link { folder: self.root, path: page.as_deref().unwrap_or(own) };
        format!("<a href=\"{link}\">{number}</a>")
    }

    /// Returns a player's name, in a site with a link to its page.
    pub(super) fn player(&self, player: Player, name: &str, columns: usize) -> String {
        let name = Name(name, columns);
        match self.teams.and_then(|teams| teams.get(player.index())) {
            None => name.to_string(),
            Some(team) => {
                let path = format!("teams/{team}{}", ENDINGS.1);
                let link = Link { folder: self.root, path: &path };
                format!("<a href=\"{}\">{name}</a>", Text(&link.to_string()))
            }
        }
    }
}
