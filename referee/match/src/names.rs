//! Unique names for the agents of a match or a contest.

use unicode_security::confusable_detection::skeleton;

/// Makes names unique by appending ` #2`, ` #3`, also to those that look like an earlier one.
pub fn unique_names(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut unique: Vec<String> = Vec::new();
    for name in names {
        let name = unique_name(&unique, &name);
        unique.push(name);
    }
    unique
}

/// Makes a name unique beside known ones.
pub fn unique_name(known: &[String], name: &str) -> String {
    let is_new = |name: &String| known.iter().all(|other| !look_alike(name, other));
    let mut numbered = (2..).map(|number| format!("{name} #{number}"));
    let own = Some(name.to_owned()).filter(is_new);
    own.or_else(|| numbered.find(is_new)).unwrap_or_default()
}

/// Whether two names are the same, or look the same because of letters of other alphabets (Unicode
/// Technical Standard #39, section 4). ASCII has such letters too, `l` and `1`, but they are no disguise.
fn look_alike(one: &str, other: &str) -> bool {
    one == other || !(one.is_ascii() && other.is_ascii()) && skeleton(one).eq(skeleton(other))
}

#[cfg(test)]
mod tests {
    use super::unique_names;

    #[test]
    fn names_that_look_alike_are_numbered() {
        let names = |names: [&str; 3]| unique_names(names.map(str::to_owned));
        // The second has a Cyrillic letter, the third a full-width one.
        let alike = names(["mybot", "myb\u{43e}t", "\u{ff4d}ybot"]);
        assert_eq!(alike, ["mybot", "myb\u{43e}t #2", "\u{ff4d}ybot #3"]);
        assert_eq!(names(["a", "a", "a"]), ["a", "a #2", "a #3"]);
        for different in [["bot1", "botl", "bot"], ["Zoë", "Zoe", "zoe"]] {
            assert_eq!(names(different), different);
        }
    }
}
