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

/// Returns the name of a folder for an agent: its own, as far as that is the name of a single folder. Other
/// characters, and a dot at the begin, are written as `%` and their bytes: so different agents have different
/// folders, whoever else plays.
pub(super) fn folder_name(name: &str) -> String {
    let mut folder = String::new();
    for c in name.chars() {
        let is_plain = c.is_alphanumeric() || "_-@:# ()".contains(c);
        if is_plain || c == '.' && !folder.is_empty() {
            folder.push(c);
        } else {
            let mut bytes = [0; 4];
            folder.extend(c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02x}")));
        }
    }
    if folder.is_empty() { "%".to_owned() } else { folder }
}

#[cfg(test)]
mod tests {
    use super::{file_names, folder_name};

    #[test]
    fn a_folder_s_name_is_the_agent_s_and_leads_nowhere() {
        for (name, folder) in [
            ("alice v2", "alice v2"),
            ("a.b", "a.b"),
            ("..", "%2e."),
            (".", "%2e"),
            ("a/b", "a%2fb"),
            ("a-b", "a-b"),
            ("a%2fb", "a%252fb"),
            ("", "%"),
        ] {
            assert_eq!(folder_name(name), folder, "{name}");
        }
    }

    #[test]
    fn file_names_are_plain_and_unique() {
        let names = ["a/b", "A-B", "..", "\u{e4}", "x y", "a-b-2", "CON<script>"];
        let files = ["a-b", "A-B-2", "agent", "agent-2", "x-y", "a-b-2-2", "CON-script"];
        assert_eq!(file_names(names), files);
        assert_eq!(file_names([&*"n".repeat(90)])[0].len(), 40);
    }
}
