//! What the rules remember of other games.

use super::Problem;
use super::bench::{Bench, EVERYTHING, from_setup};
use super::games::Case;
use super::repeated::{LONG_WALK, difference, line};
use referee_games::wire::At;
use serde_json::Value;

/// What new processes answer about a game, and the questions.
struct Alone<'a> {
    bench: &'a Bench<'a>,
    setup: Value,
    /// About the start, and about the whole game.
    questions: [Value; 2],
    answers: [Vec<u8>; 2],
}

impl Alone<'_> {
    /// Returns the questions' answers in a new process that has done something before.
    fn after(&self, before: impl FnOnce()) -> Option<[Vec<u8>; 2]> {
        let Self { bench, questions: [start, whole], .. } = self;
        bench.forget();
        before();
        Some([line(bench, 0, start).ok()?, line(bench, 0, whole).ok()?])
    }

    /// Returns the answer about the start if it differs after a request for the start of another game.
    fn after_start(&self, setup: &Value) -> Option<Vec<u8>> {
        let request = from_setup(setup, &[], &EVERYTHING, At::End);
        let [start, _] = self.after(|| drop(line(self.bench, 0, &request)))?;
        (start != self.answers[0]).then_some(start)
    }
}

/// Explains a failure that a game doesn't show in new processes: by the game before it on which its answers depend.
pub(super) fn found(bench: &Bench<'_>, cases: &[u64], number: u64, problem: Problem) -> Problem {
    depends(bench, cases, number).unwrap_or_else(|| {
        problem.because(
            "in new processes the game alone doesn't show it: the rules remember something of earlier requests, or \
             use random numbers or a clock",
            "keep everything in the state; the referee may ask about many matches in turn",
        )
    })
}

fn depends(bench: &Bench<'_>, cases: &[u64], number: u64) -> Option<Problem> {
    bench.forget();
    let game = bench.game(number).ok()?;
    let setup = game.setup.clone();
    let moves = &game.moves[..game.moves.len().min(LONG_WALK)];
    let questions = [
        from_setup(&setup, &[], &EVERYTHING, At::End),
        from_setup(&setup, moves, &EVERYTHING, At::All),
    ];
    let mut alone = Alone { bench, setup, questions, answers: [Vec::new(), Vec::new()] };
    alone.answers = alone.after(|| ())?;
    if alone.after(|| ())? != alone.answers {
        return None;
    }
    cases.iter().filter(|&&other| other != number).find_map(|&other| {
        let mut earlier = Value::Null;
        let answers = alone.after(|| {
            let Ok(game) = bench.game(other) else { return };
            let moves = &game.moves[..game.moves.len().min(LONG_WALK)];
            drop(line(bench, 0, &from_setup(&game.setup, moves, &EVERYTHING, At::All)));
            earlier = game.setup.clone();
        })?;
        let which = (0..2).find(|&which| answers[which] != alone.answers[which])?;
        Some(if let Some(start) = alone.after_start(&earlier) {
            after_start(&alone, earlier, start)
        } else {
            let case = Case { setup: alone.setup.clone(), moves: Vec::new(), drawn: Vec::new() };
            let place = match which {
                0 => bench.describe_case(&case),
                _ => format!("in random game {number}, setup {}", alone.setup),
            };
            let place = format!("{place}, after random game {other} with setup {earlier}");
            remembering(
                bench,
                "the setup or the state",
                &alone.answers[which],
                &answers[which],
                place,
            )
        })
    })
}

/// Explains a start that differs after that of another game, whose setup is made as equal as possible.
fn after_start(alone: &Alone<'_>, mut earlier: Value, mut start: Vec<u8>) -> Problem {
    let mut differing = Vec::new();
    for (name, value) in alone.setup.as_object().into_iter().flatten() {
        if earlier[name] == *value {
            continue;
        }
        let mut closer = earlier.clone();
        closer[name] = value.clone();
        if let Some(answer) = alone.after_start(&closer) {
            (earlier, start) = (closer, answer);
        } else {
            differing.push(format!("`{name}`"));
        }
    }
    let lacks = match differing.as_slice() {
        [name] => format!("the setup's {name}"),
        _ => "a part of the setup".to_owned(),
    };
    let case = Case { setup: alone.setup.clone(), moves: Vec::new(), drawn: Vec::new() };
    let place = alone.bench.describe_case(&case);
    let place = format!("{place}, after the start of a game with setup {earlier}");
    remembering(alone.bench, &lacks, &alone.answers[0], &start, place)
}

fn remembering(
    bench: &Bench<'_>,
    lacks: &str,
    alone: &[u8],
    after: &[u8],
    place: String,
) -> Problem {
    let (part, alone, after) = difference(bench, alone, after);
    let mut problem = Problem::new(
        format!("a game depends on a game before it in the same process: {part} differs"),
        &format!("the rules remember something between games, such as in a cache whose key lacks {lacks}"),
        "keep everything in the state, or the whole setup and state in the key; the referee may ask about many matches in turn",
    )
    .showing(format!("in a new process: {alone}"))
    .showing(format!("after the other game: {after}"));
    problem.position = place;
    problem
}
