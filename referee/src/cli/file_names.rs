//! File names for agents.

/// The longest file name, in characters.
const FILE_NAME_CHARACTERS_MAX: usize = 40;

/// Returns a file name for each name, without ending: ASCII letters, digits, `-` and `_`, at most 40, and
/// unique also on disks that ignore case.
pub(super) fn file_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut used = std::collections::BTreeSet::new();
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let file_name = |name: &str| {
        let own: String = name.chars().take(FILE_NAME_CHARACTERS_MAX).map(plain).collect();
        let own = own.trim_matches('-');
        let own = if own.is_empty() { "agent".to_owned() } else { own.to_owned() };
        let numbered = (2..).map(|number| format!("{own}-{number}"));
        let mut candidates = std::iter::once(own.clone()).chain(numbered);
        let free = candidates.find(|name| used.insert(name.to_ascii_lowercase()));
        free.unwrap_or(own)
    };
    names.into_iter().map(file_name).collect()
}

#[cfg(test)]
mod tests {
    use super::file_names;

    #[test]
    fn file_names_are_plain_and_unique() {
        let names = ["a/b", "A-B", "..", "\u{e4}", "x y", "a-b-2", "CON<script>"];
        let files = ["a-b", "A-B-2", "agent", "agent-2", "x-y", "a-b-2-2", "CON-script"];
        assert_eq!(file_names(names), files);
        assert_eq!(file_names([&*"n".repeat(90)])[0].len(), 40);
    }
}
