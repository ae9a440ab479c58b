//! The names of teams and of their versions in an open ladder.

use referee_match::names::unique_name;
use referee_protocol::sanitize::sanitize_name;

/// Returns why a team of an open ladder can't have this name beside these: it would be taken for another player.
pub fn unfit(team: &str, others: &[String]) -> Option<String> {
    // Pages show several spaces as one.
    if sanitize_name(team) != team || team.is_empty() || team.contains("  ") {
        let why = "is empty or too long, or has spaces around it, two in a row, or characters that are not shown";
        return Some(why.to_owned());
    }
    if let Some(of) = version_of(team) {
        return Some(format!("is that of a version of {of}"));
    }
    let is_alike = unique_name(others, team) != team;
    is_alike.then(|| "looks like that of another player".to_owned())
}

/// Returns the team's name in the name of a later version, `NAME v2`.
pub fn version_of(name: &str) -> Option<&str> {
    let (team, version) = name.rsplit_once(" v")?;
    let is_number = !version.is_empty() && version.bytes().all(|it| it.is_ascii_digit());
    is_number.then_some(team)
}

#[cfg(test)]
mod tests {
    use super::version_of;

    #[test]
    fn a_version_s_name_is_its_team_s() {
        for (name, team) in [
            ("amy v2", Some("amy")),
            ("amy v2 v10", Some("amy v2")),
            ("amy", None),
            ("amy v", None),
            ("amy v2b", None),
            ("amyv2", None),
        ] {
            assert_eq!(version_of(name), team, "{name}");
        }
    }
}
