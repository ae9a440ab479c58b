//! The end of a course: its final contest, and its grades.

use super::{Team, Teams, copy_version, last_versions};
use crate::again::stored_file;
use crate::folder::{Folder, folder_name};
use crate::prepare::{Builds, Prepared, new_key, prepare_text};
use crate::store::{Store, StoredContest};
use crate::team_names::version_of;
use crate::writer::disk_failure;
use referee_contest::file::{ContestFile, FileError};
use referee_contest::grades::{Grade, Grades, grades};
use referee_contest::report::Report;
use referee_contest::{Contest, Schedule, Seed};
use referee_process::Failure;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;
use toml::{Table, Value};

/// Copies the files of each team's last version that plays, and was not taken back, to a new folder of submissions.
/// Returns the teams with the numbers of these versions.
pub fn collect(course: &Folder, to: &Path) -> Result<Vec<(Team, Option<u32>)>, Failure> {
    let versions = last_versions(course)?;
    // Nobody else may read what teams have written.
    fs::DirBuilder::new().mode(0o700).create(to).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Failure::usage(format!("{}: it is there already", to.display()))
                .help("choose a new folder")
        }
        _ => disk_failure(to, &error),
    })?;
    let copied = versions.into_iter().map(|(team, version)| {
        let number = version.map(|(number, files)| {
            copy_version(&files, &to.join(folder_name(&team.name))).map(|()| number)
        });
        Ok((team, number.transpose()?))
    });
    copied.collect()
}

/// Prepares the final contest of a course, in which everyone meets everyone: what was collected and the course's own agents, with the
/// course's games and conditions.
pub fn prepare_final(
    course: &Folder,
    collected: &Path,
    rounds: u32,
    builds: Builds<'_>,
) -> Result<Prepared, Failure> {
    let stored = Store::open_to_read(course)?.contest()?;
    stored_file(&stored, course)?;
    let StoredContest { text, base, contest, .. } = stored;
    let keeps_format = Schedule::new(Arc::new(contest)).is_fixed();
    let text = final_file(&text, collected, (rounds, keeps_format), new_key()?)?;
    prepare_text(&text, Path::new("final.toml"), &base, builds)
}

/// Without the course's format it has the default one, in which everyone meets everyone.
fn final_file(
    course: &str,
    collected: &Path,
    (rounds, keeps_format): (u32, bool),
    seed: Seed,
) -> Result<String, Failure> {
    let wrong = |error: &dyn std::fmt::Display| Failure::usage(format!("contest.toml: {error}"));
    let mut file: Table = course.parse().map_err(|error: toml::de::Error| wrong(&error))?;
    file.remove("web");
    let name = file.get("name").and_then(Value::as_str).unwrap_or("course");
    let name = format!("{name} final");
    let mut set = |key: &str, value: Value| file.insert(key.to_owned(), value);
    set("name", name.into());
    set("rounds", rounds.into());
    set("seed", Value::try_from(seed).map_err(|error| wrong(&error))?);
    let place = Value::from(collected.to_string_lossy().into_owned());
    match file.get_mut("submissions") {
        Some(Value::Table(own)) => {
            own.insert("folder".to_owned(), place);
        }
        _ => {
            file.insert("submissions".to_owned(), place);
        }
    }
    if !keeps_format {
        file.remove("format");
    }
    // They have passed the check. What fails all the same must not stop the others.
    let policy = file.entry("policy").or_insert_with(|| Table::new().into());
    if let Value::Table(policy) = policy {
        policy.insert("on_broken".to_owned(), "leave-out".into());
    }
    toml::to_string(&file).map_err(|error| wrong(&error))
}

/// Returns the grades of a contest by the table `[grades]` of this file; `path` is its name for people. With the teams of a
/// course, their ids are added, and disqualified teams have neither place nor mark, whether they play or not.
pub fn grades_by(
    file: &ContestFile,
    path: &Path,
    (report, contest): (&Report, &Contest),
    teams: Option<&Teams>,
) -> Result<Grades, Failure> {
    let failed = |error: FileError| Failure::usage(error.to_string()).or_help(error.help);
    let Some(settings) = file.grades(contest).map_err(failed)? else {
        let text = format!("{}: there is no table [grades] in the contest file", path.display());
        return Err(Failure::usage(text).help(
            "add it to a copy of the contest file, and give that: `referee contest grades DIR --file FILE`, with \
             `--teams COURSE` for a course; see `[grades]` in docs/contest-file.md",
        ));
    };
    let teams = teams.map_or(&[][..], |teams| &teams.teams);
    let out = |team: &Team| team.disqualified.as_ref().map(|why| format!("disqualified: {why}"));
    let mut grades = grades(report, contest, settings, |name| team_of(teams, name).and_then(out));
    for team in teams {
        if let Some(why) = out(team)
            && !grades.grades.iter().any(|own| is_of(team, &own.name))
        {
            grades.grades.push(Grade::none(&team.name, why));
        }
    }
    for own in &mut grades.grades {
        own.id = team_of(teams, &own.name).map(|team| team.id.clone());
    }
    Ok(grades)
}

/// Whether a player is a team's agent, or a version of it.
fn is_of(team: &Team, player: &str) -> bool {
    player == team.name
        || version_of(player) == Some(&team.name)
        || player == folder_name(&team.name)
}

fn team_of<'a>(teams: &'a [Team], player: &str) -> Option<&'a Team> {
    teams.iter().find(|team| is_of(team, player))
}

#[cfg(test)]
mod tests {
    use super::final_file;
    use referee_contest::Seed;
    use referee_contest::file::ContestFile;
    use std::path::Path;

    #[test]
    fn a_final_has_the_course_s_games_and_conditions() {
        let course = "name = \"c\"\nseed = 1\nformat = \"ladder\"\nrounds = 9\nagents = [\"@first\"]\n\
                      submissions = { folder = \"x\", run = \"comp30024:{}\" }\n[clock]\nbank = \"10s\"\n\
                      [web]\nfreeze_at = \"2999-01-01 00:00\"\n[[games]]\ngame = \"hex\"\n";
        let text = final_file(course, Path::new("/a \"b\""), (3, false), Seed::Key(7)).unwrap();
        let found = ContestFile::submissions_of(&text).unwrap().unwrap();
        assert_eq!(
            (found.folder.as_str(), found.run.as_deref()),
            ("/a \"b\"", Some("comp30024:{}"))
        );
        for part in
            ["\"c final\"", "rounds = 3", &format!("seed = \"{:032}\"", 7), "10s", "@first", "hex"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(
            !text.contains("[web]") && !text.contains("format") && text.contains("leave-out"),
            "{text}"
        );
        let text = final_file(
            "game = \"hex\"\nformat = \"puzzle\"",
            Path::new("/a"),
            (1, true),
            Seed::Key(7),
        )
        .unwrap();
        assert!(text.contains("submissions = \"/a\"") && text.contains("puzzle"), "{text}");
    }
}
