//! Hostile names are escaped in every output of a contest.

use crate::support::contest::{AMPLE, assert_whole, contest, transcripts};
use crate::support::{TestDir, script_agent};

/// Names with syntax of terminals, HTML, Markdown tables and spreadsheets.
const HOSTILE: [&str; 5] = [
    "\\u001b]0;owned\\u0007\\u001b[31mred",
    "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "=HYPERLINK(\\\"http://x\\\")|`x`**b**",
    "\\\"'&amp;,;\\ttab\\r\\nline",
    "\\u202egnorw \\u200b\\u009b31m",
];

#[track_caller]
fn assert_plain(text: &str) {
    let bad = |c: &char| {
        (c.is_control() && !"\n\r\t".contains(*c)) || "\u{202e}\u{200b}\u{2028}".contains(*c)
    };
    assert_eq!(text.chars().find(bad), None, "{text:?}");
    assert!(!text.contains("\r\nline"), "{text:?}");
}

#[test]
fn hostile_names_are_escaped() {
    let dir = TestDir::new();
    let agent = |name: &&str| format!("{{ name = \"{name}\", run = \"@first\" }}");
    let agents: Vec<String> = HOSTILE.iter().map(agent).collect();
    let text = format!(
        "name = \"\\u001b[2J<b>|autumn\"\nseed = 7\nagents = [{}]\nformat = \"gauntlet\"\n{AMPLE}\
         [openings]\nplies = 1\n[[games]]\ngame = \"hex\"\nsetup = {{ size = 3 }}\n",
        agents.join(", ")
    );
    dir.write("c.toml", text);
    let mut output = Vec::new();
    let mut output_of = |words: &[&str]| {
        let ran = contest(&dir, words).code(0);
        output.extend([ran.stdout.clone(), ran.stderr]);
        ran.stdout
    };
    output_of(&["plan", "c.toml", "--pairings"]);
    output_of(&["plan", "c.toml", "--json"]);
    output_of(&["run", "c.toml", "--out", "d"]);
    output_of(&["status", "d"]);
    output_of(&["status", "d", "--json"]);
    for format in ["text", "json"] {
        output_of(&["report", "d", "--format", format]);
    }
    let page = output_of(&["report", "d", "--format", "html"]);
    assert!(!page.contains("<script>alert") && !page.contains("<img src=x"), "in the page");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "as text");
    let markdown = output_of(&["report", "d", "--format", "markdown"]);
    assert!(!markdown.contains('<') || !markdown.contains("<script"), "{markdown}");
    assert!(!markdown.contains("|`x`"), "{markdown}");
    for format in ["csv", "games-csv"] {
        let table = output_of(&["report", "d", "--format", format]);
        let begins = |start: &str| table.contains(start);
        assert!(!begins(",=HYPERLINK") && !begins(",\"=HYPERLINK"), "{table}");
        assert!(begins("\"'=HYPERLINK(\"\"http://x\"\")"), "{table}");
    }
    for text in &output {
        assert_plain(text);
    }
    for name in ["report.html", "report.md", "report.json", "standings.csv", "games.csv"] {
        assert_plain(&std::fs::read_to_string(dir.path("d").join(name)).unwrap());
    }
    assert_whole(&dir, "d", 8);
}

#[test]
fn a_folder_is_named_after_a_hostile_contest() {
    let dir = TestDir::new();
    let head = "name = \"../../\\u001b[2J evil/\\u0000x\"\n";
    let agents = "agents = [\"@first\", \"b=@first\"]\n";
    let game = "[[games]]\ngame = \"hex\"\nsetup = { size = 3 }\n";
    dir.write("deep/c.toml", format!("{head}{agents}{AMPLE}{game}"));
    let ran = contest(&dir, &["run", "deep/c.toml"]).code(0);
    assert_plain(&ran.stderr);
    let folders: Vec<String> = std::fs::read_dir(dir.path("contests"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(folders.len(), 1);
    assert_plain(&folders[0]);
    assert!(!folders[0].starts_with('.'), "{folders:?}");
}

#[test]
fn names_can_be_hidden_from_agents_and_readers() {
    let dir = TestDir::new();
    let Some(agent) = script_agent("logging.py", "") else { return };
    dir.write(
        "c.toml",
        format!(
            "anonymous = true\nagents = [{{ name = \"otto\", run = {agent:?} }}, {{ name = \"bert\", \
             run = {agent:?} }}]\n{AMPLE}[[games]]\ngame = \"hex\"\nsetup = {{ size = 3 }}\n"
        ),
    );
    contest(&dir, &["run", "c.toml", "--out", "d"]).code(0);
    dir.run(&["verify", "d"]).code(0);
    for file in transcripts(&dir, "d") {
        let header = &dir.events(file.to_str().unwrap())[0];
        assert_eq!(header["anonymous"], true, "{header}");
        for (seat, other) in [(0, 1), (1, 0)] {
            let said = dir.said(file.to_str().unwrap(), seat);
            let name = |seat: usize| header["seats"][seat]["name"].as_str().unwrap();
            assert!(!said.contains(name(other)), "{said}");
            assert!(said.contains(name(usize::try_from(seat).unwrap())), "{said}");
        }
    }
    contest(&dir, &["publish", "d", "--out", "site"]).code(0);
    let page = std::fs::read_to_string(dir.path("site/index.html")).unwrap();
    assert!(page.contains("Player 1") && !page.contains("bert"), "{page}");
}
