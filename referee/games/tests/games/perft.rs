//! The counts in every game's `perft.txt`: `SETUP : COUNT COUNT ..`, from depth 1 on; a setup is
//! JSON, `#` begins a comment.

use referee_games::GAMES;
use serde_json::Value;
use std::path::Path;

#[test]
fn every_count_is_met() {
    for kind in GAMES {
        let folder = kind.name.replace('-', "_");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder).join("perft.txt");
        let text = std::fs::read_to_string(&file).unwrap();
        let mut checked = 0;
        for line in text.lines().map(|line| line.split('#').next().unwrap().trim()) {
            if line.is_empty() {
                continue;
            }
            let (setup, counts) = line.rsplit_once(" : ").expect("SETUP : COUNT COUNT ..");
            let setup: Value = serde_json::from_str(setup).unwrap();
            let game = kind.start(&setup).unwrap();
            for (depth, count) in (1..).zip(counts.split_whitespace()) {
                let count: u64 = count.parse().unwrap();
                assert_eq!(game.perft(depth), count, "{} {setup} depth {depth}", kind.name);
                checked += 1;
            }
        }
        assert!(checked > 0, "{} has no counts", file.display());
    }
}
