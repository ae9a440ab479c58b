//! Files that were changed and sealed again: only judging what was recorded once more shows it.

use super::samples::{all, hex_played, sealed, sealed_lines, unsealed_lines};
use referee_games::Games;
use referee_match::transcript::{Status, verify};
use referee_protocol::Event;
use serde_json::{Value, from_str, from_value, to_value};

/// A sample, what is changed in it, and words of the report that it disagrees. `ok` stands for a report
/// that it is ok, with these words.
///
/// An event is given by its type and its number, from 0 or, if negative, from the end; by `before` and the
/// event after it; or by its line in quotes. Changes are joined by `&`.
const FORGERIES: &str = r#"
# An action, and the line that it answers with: of the referee's own protocol, and through a codec.
played: played 0/action = {"at":[2,2],"type":"place"} => line 6: turn 0: seat 0 answered {"at":[1,0],"type":"place"} in line 5, but {"at":[2,2],"type":"place"} is played
played: before played 0 says {"type":"action","action":{"type":"place","at":[2,2]}} => line 6: turn 0: seat 0 answered {"at":[2,2],"type":"place"} in line 5, but {"at":[1,0],"type":"place"} is played
htp: played 0/action = {"at":[2,2],"type":"place"} => turn 0: seat 0 answered {"at":[2,0],"type":"place"} in line
htp: "= C1" says = B1 => turn 0: seat 0 answered {"at":[1,0],"type":"place"} in line

# A line that says something else, or is another's.
played: drop line 2 => turn 0 is played, but no line of seat 0 says so
played: before played 0 says {"type":"info"} => turn 0 is played, but no line of seat 0 says so
played: before played 0 says {"type":"resign"} => the match ends (resigned: resigned), but it says that seat 0 plays
played: before played 0 says c4 => the match ends (garbled: 
played: before played 0 says {"type":"action","action":{"type":"place","at":[9,9]}} => the match ends (illegal: 
played: before played 2 says {"type":"action","turn":3,"action":{"type":"place","at":[2,2]}} => the match ends (unasked: 
played: line 2/seat = 1 => the match ends (unasked: 
played: line 2/cut = true => the match ends (flood: 
played: line 2/line = "" => blank lines are not recorded
played: line 2/escaped = true => escaped: playing gives null, the transcript says true
played: line 2/at_ns += 1 => before that of the event before it
played: copy line 2 to turn 1 => the match ends (unasked: 
played: copy played 0 to played 0 => it says turn 0 and seat 0, but by the rules it is turn 1 and seat 1
played: drop played 0 => seat 0 plays {"at":[1,0],"type":"place"}, but it says that seat 1 is asked for turn 1
htp: drop before played 0 => turn 0 is played, but no line of seat 0 says so
played: line 2/line = "{\"type\":\"action\",\"turn\":1,\"action\":{\"at\":[1,2],\"type\":\"place\"}}" => the match ends (
played: drop line 3 => turn 1 is played, but no line of seat 1 says so
played: drop line -1 => but no line of seat
played: copy line 3 to line 2 & drop line 4 => before that of the event before it
illegal: before over 0 says {"type":"action","action":{"type":"place","at":[2,1]}} => but it says that the match ends (illegal: 
unasked: before over 0 says {"type":"action","turn":2,"action":{"type":"place","at":[2,2]}} => seat 0 plays {"at":[2,2],"type":"place"}, but it says that the match ends (unasked: 
resigned: before over 0 says {"type":"action","action":{"type":"place","at":[2,2]}} => seat 0 plays {"at":[2,2],"type":"place"}, but it says that the match ends (resigned: 
htp: "= C1" says = pass => the match ends (garbled: 
htp: "= C1" says = resign => the match ends (resigned: 

# Answers to `hello`.
played: drop line 0 => seat 0 has not sent `ready`, so no seat is asked
played: header 0/seats/1/ready = null => `ready` of seat 1: its line gives {
played: header 0/seats/1/ready = {} => `ready` of seat 1: its line gives {
played: line 1 says {"type":"ready"} => `ready` of seat 1: its line gives {}, the header says {"version"
played: line 1 says {"type":"info"} => `ready` of seat 1: its line gives null
htp: header 0/seats/0/ready/name = "x" => `ready` of seat 0: its line gives {

# Scores.
adjudicated: played 2/score = 0.9 => score: playing gives 1.0, the transcript says 0.9
adjudicated: played 0/score = 1.0 => score: playing gives null, the transcript says 1.0
adjudicated: "{"score":-1.0,"type":"info"}" says {"type":"info","score":-2.0} => score: playing gives -2.0, the transcript says -1.0
adjudicated: header 0/adjudication = null => score: playing gives null

# Faults that a line shows.
illegal: before over 0 says {"type":"action","action":{"type":"place","at":[2,2]}} => seat 0 plays {"at":[2,2],"type":"place"}, but it says that the match ends (illegal: 
illegal: before over 0 says no JSON => verdict.reason: playing gives "garbled", the transcript says "illegal"
illegal: over 0/verdict/reason = "garbled" & over 0/verdict/seats/0/fault/kind = "garbled" => verdict.reason: playing gives "illegal", the transcript says "garbled"
illegal: over 0/verdict/reason = "gone" & over 0/verdict/seats/0/fault/kind = "gone" => verdict.reason: playing gives "illegal"
illegal: over 0/verdict/reason = "late" & over 0/verdict/seats/0/fault/kind = "late" => verdict.reason: playing gives "illegal"
illegal: over 0/verdict/seats/0/fault/legal = [1] => verdict.seats[0].fault.legal: playing gives [{
illegal: drop before over 0 => seat 0 is out (illegal), but wrote no line at that time
garbled: before over 0 says {"type":"info"} => seat 0 is out (garbled), but wrote no line at that time
garbled: over 0/verdict/reason = "unasked" & over 0/verdict/seats/0/fault/kind = "unasked" => verdict.reason: playing gives "garbled"
unasked: before over 0 says {"type":"resign"} => verdict.reason: playing gives "resigned", the transcript says "unasked"
unasked: over 0/verdict/reason = "late" & over 0/verdict/seats/0/fault/kind = "late" => verdict.reason: playing gives "unasked"
resigned: before over 0 says {"type":"ready"} => verdict.reason: playing gives "unasked", the transcript says "resigned"
resigned: drop before over 0 => seat 0 is out (resigned), but wrote no line at that time
htp: "= resign" says = B3 => seat 0 plays {"at":[1,2],"type":"place"}, but it says that the match ends (resigned
played: header 0/seats/0/command = ["@import","x"] & drop line 2 => turn 0 is played, but no line of seat 0 says so
played: header 0/seats/0/command = ["@import","x"] & header 0/seats/1/command = ["@import","x"] => an imported game has no times
htp: header 0/seats/0/protocol/options = {"nonsense":1} => nonsense
flood: over 0/verdict/reason = "memory" & over 0/verdict/seats/0/fault/kind = "memory" => verdict.reason: playing gives "flood"
resigned: before over 0 says {"type":"action","action":{"type":"place","at":[2,2]}} & over 0/verdict/reason = "flood" & over 0/verdict/result = "fault" & over 0/verdict/seats/0/fault/kind = "flood" => seat 0 plays {"at":[2,2],"type":"place"}, but it says that the match ends (flood
blank: drop before over 0 => seat 0 is out (flood), but wrote no line at that time
blank: before over 0 says {"type":"info"} => seat 0 is out (flood), but wrote no line at that time
blank: copy before over 0 to before over 0 => blank lines are not recorded, but line 12 is blank
interrupted: retired 0/fault/kind = "start" => fault.kind: playing gives "flood", the transcript says "start"
interrupted: retired 1/fault/kind = "gone" => fault.kind: playing gives "unasked", the transcript says "gone"
interrupted: drop retired 1 => seat 0 is out (unasked: 
last_seat: retired 1/fault/kind = "illegal" => fault.kind: playing gives "resigned"
last_seat: drop before retired 1 => seat 2 is out (resigned), but wrote no line at that time
last_seat: copy line 1 to turn 2 & line 5/at_ns += 10000000 => seat 1 is out, so no line of it is read
played: copy line 0 to end & line -1/at_ns += 100000000 => so no line is read

# Times and clocks.
played: played 1/at_ns = 1 => before that of the event before it
played: turn 1/at_ns = 1 => before that of the event before it
played: played 1/at_ns += 1 => at_ns: playing gives
played: played 1/wall_ns += 1 => wall_ns: playing gives
played: turn 2/at_ns += 1 => wall_ns: playing gives
played: played 1/used_ms += 1 => used_ms: playing gives
played: turn 1/left_ms = 3 => left_ms: playing gives 60000, the transcript says 3
played: turn 1/left_ms = null => left_ms: playing gives 60000, the transcript says null
played: turn 1/pondered_ns = 5000000 => left_ms: playing gives 59995
pondering: turn 1/pondered_ns = 0 => left_ms: playing gives 60000
played: over 0/verdict/seats/0/used_ms = 0 => verdict.seats[0].used_ms: playing gives
played: over 0/verdict/seats/0/cpu_ms = 0 => verdict.seats[0].cpu_ms: playing gives
played: over 0/verdict/seats/1/turns = 99 => verdict.seats[1].turns: playing gives
played: copy turn 1 to turn 1 => turn 1 is asked a second time
played: drop turn 0 => the match ends (unasked: 
played: header 0/clock/move_ms = 0 => the match ends (late: 
late: over 0/at_ns += -1000000000 => which its clock allows
late: header 0/clock/margin_ms = 10000 => which its clock allows
late: header 0/clock/bank_ms = 70000 => left_ms: playing gives 70000
late: over 0/verdict/seats/1/fault/by = "cpu" => fault.by: playing gives "wall"
late: over 0/verdict/seats/1/fault/by = null => fault.by: playing gives "wall"
late: drop turn 3 => seat 1 is late, but was not asked
played: played 1/cpu_ns = 9000000000000 & over 0/verdict/seats/1/cpu_ms = 9000001 => it needs 9000000 ms of CPU time in its turn, of which only 2 ms had passed
played: played 1/lag_ns = 90000000000 => lag_ns: the referee was late by 90000 ms in a turn of 2 ms
played: turn 1/pondered_ns = 50000000000 & turn 1/left_ms = 10000 => it needs 50000 ms of CPU time since the match began
late_cpu: over 0/at_ns += -59900000000 => it needs 60000 ms of CPU time in its turn, of which only 
late_cpu: over 0/verdict/seats/0/fault/by = "wall" => seat 0 is late in turn 2, but only 60002 ms passed since the request, which its clock allows
late_cpu: header 0/clock/kind = "wall" => 
late_cpu: drop played 1 & drop turn 2 & over 0/at_ns = 6000018 & over 0/verdict/seats/0/fault = null & over 0/verdict/seats/1/fault = {"kind":"late","by":"cpu","turn":1,"text":""} => it needs 60000 ms of CPU time in its turn, of which only 2 ms had passed
late_cpu: drop played 1 & drop turn 2 & over 0/at_ns = 6000018 & over 0/verdict/seats/0/fault = null & over 0/verdict/seats/1/fault = {"kind":"gone","turn":1,"text":""} => seat 1 plays {
late_cpu: header 0/sandbox/cores = 1 & header 0/sandbox/layers = ["cgroup v2"] & over 0/at_ns += -58000000000 => it needs 60000 ms of CPU time in its turn, of which only 2002 ms had passed
late_cpu: header 0/sandbox/cores = 2 & header 0/sandbox/layers = ["memory watchdog"] & over 0/at_ns += -58000000000 => it needs 60000 ms of CPU time in its turn, of which only 2002 ms had passed

played: played 1/wait_ns = 9000000000000 => wait_ns: it waited 9000000 ms for a core in a turn of 2 ms

# What was written to stderr.
played: stderr 0/at_ns = 1 => line 8: its time is 1 ns, before that of the event before it
played: stderr 0/turn = 0 => line 8: stderr of turn 0, after some of turn 1
played: stderr 0/turn = 9 => line 10: stderr of turn 9, in turn 2 or before
played: copy stderr 0 to end & stderr 1/turn = 9 & stderr 1/at_ns += 100000000 => stderr of turn 9, in turn
played: copy stderr 0 to end => its time is
played: stderr 0/dropped_bytes = 5 => dropped_bytes: of the stderr of seat 1 some is left out
played: header 0/limits/stderr_bytes = 2 => the stderr of seat 1 has 
played: header 0/limits/stderr_bytes = 2 & stderr 0/text = "ab" & copy stderr 0 to stderr 0 & stderr 1/dropped_bytes = 3 & copy stderr 0 to played 1 & stderr 2/turn = 2 => goes on after its end
played: stderr 0/seat = 2 => there is no seat 2

# Memory.
memory: header 0/sandbox/layers = ["cgroup v2"] & over 0/verdict/seats/0/peak_memory_kb = 1000 => seat 0 is out (memory), but had 1000 KiB at most, of 524288
played: header 0/sandbox/layers = ["cgroup v2"] & over 0/verdict/seats/1/peak_memory_kb = 2000000 => peak_memory_kb: seat 1 had 2000000 KiB, but its control group allowed 524288

# How processes ended.
played: copy exit 0 to end => seat 0 exits a second time
played: exit 0/at_ns = 1 => before that of the event before it
played: copy exit 0 to turn 2 & exit 0/at_ns = 6000018 => the match ends (gone: ended with exit status 0 before answering turn 2), but it says that seat 0 is asked for turn 2
played: copy exit 0 to before played 2 & exit 0/at_ns = 7000021 => the match ends (gone: ended with exit status 0 before answering turn 2), but it says that seat 0 writes a line
played: copy exit 0 to played 2 & exit 0/at_ns = 8000024 => seat 0 plays {"at":[1,2],"type":"place"}, but it says that seat 0 exits (exit status 0)
played: copy exit 0 to turn 2 & exit 0/at_ns = 6000018 & exit 0/late = true => seat 0 exits late, but the match isn't over
exited: drop exit 0 => seat 0 ended with signal 9 (SIGKILL) by its fault, but no line says that it exits
between: drop exit 0 => 
exited: exit 0/status = "exit status 1" => seat 0 ended with signal 9 (SIGKILL) by its fault, but with exit status 1 here
exited: over 0/verdict/seats/0/fault/text = "ended with exit status 1 before answering turn 2" => by its fault, but with signal 9 (SIGKILL) here
between: copy line 1 to before played 0 & line 3/at_ns = 5000015 => seat 1 has exited, so no line of it is read

# Seats, turns and actions against the rules.
played: before played 2 says {"type":"action","action":{"type":"place","at":[1,0]}} & played 2/action = {"at":[1,0],"type":"place"} => the match ends (illegal: 
played: before played 0 says {"type":"action","action":{"type":"swap"}} & played 0/action = {"type":"swap"} => the match ends (illegal: 
played: before played 0 says {"type":"action","action":{"type":"grow"}} & played 0/action = {"type":"grow"} => the match ends (garbled: action: type: unknown value `grow`
played: before played 0 says {"type":"action","action":{"type":"place"}} & played 0/action = {"type":"place"} => the match ends (garbled: action: missing field `at`
played: before played 0 says {"type":"action","action":[]} & played 0/action = [] => the match ends (garbled: action: 
played: played 0/action = null => but null is played
played: played 2/seat = 1 => it says turn 2 and seat 1, but by the rules it is turn 2 and seat 0
played: played 2/seat = 200 => there is no seat 200
played: played 2/turn = 3 => it says turn 3 and seat 0, but by the rules it is turn 2 and seat 0
played: turn 1/seat = 0 => it says turn 1 and seat 0, but by the rules it is turn 1 and seat 1

# How matches end, and who is out.
played: over 0/outcome/places = [2,1] => outcome.places[0]: playing gives 1
played: over 0/outcome/reason = "x" => outcome.reason: playing gives "connected"
played: over 0/outcome/scores = [1,2] => outcome.scores: playing gives null
played: over 0/outcome = null => outcome: playing gives
played: over 0/verdict/places = [2,1] => verdict.places[0]: playing gives 1
played: over 0/verdict/places = null => verdict.places: playing gives
played: over 0/verdict/reason = "x" => verdict.reason: playing gives
played: over 0/verdict/result = "fault" => verdict.result: playing gives "played"
played: over 0/verdict/result = "void" => verdict.result: playing gives "played"
played: over 0/verdict/seats = [] => verdict.seats: playing gives
played: over 0/verdict/seats/0/seat = 1 => verdict.seats[0].seat: playing gives 0
played: over 0/verdict/seats/0/fault = {"kind":"gone","turn":5,"text":""} => verdict.seats[0].fault: playing gives null
played: over 0/verdict/void = {"cause":"lag","text":""} => verdict.void: playing gives null
played: drop over 0 & drop exit 0 => there is no `over` event
played: drop over 0 => the match ends (connected), but it says that seat 0 exits (exit status 0)
played: copy over 0 to exit 0 => a second `over`
played: copy over 0 to turn 1 & over 0/at_ns = 4000012 => the match isn't over: in turn 1, seat 1 is to move
void: copy turn 1 to end & turn 2/at_ns += 100000000 => the match is over, so no seat is asked
void: over 0/verdict/places = [1,2] => verdict.places: playing gives null
void: over 0/verdict/reason = "luck" => verdict.reason: playing gives "disk_full"
void: over 0/verdict/void = null => the match isn't over: in turn 2, seat 0 is to move
void: over 0/outcome = {"places":[1,2],"scores":null,"reason":"connected"} => outcome: playing gives null
void: over 0/verdict/void/seat = 2 => there is no seat 2
void: over 0/verdict/void/seat = 1 & header 0/seats/1/no_void = true => verdict.places: playing gives [1,2], the transcript says null
late: over 0/verdict/places = [2,1] => verdict.places[0]: playing gives 1
late: over 0/verdict/result = "resigned" => verdict.result: playing gives "fault"
late: over 0/verdict/reason = "gone" => verdict.reason: playing gives "late"
late: over 0/verdict/seats/1/fault = null => the match isn't over
late: over 0/verdict/seats/0/fault = {"kind":"gone","turn":3,"text":""} => seat 0 is out (gone), but seat 1 is asked
void: over 0/verdict/reason = "rules" & over 0/verdict/void/cause = "rules" => it is void since the rules failed, but they are built in
late: over 0/verdict/seats/1/fault/turn = 9 => it says turn 9, but by the rules it is turn 3
adjudicated: over 0/verdict/places = [2,1] => verdict.places[0]: playing gives 1
adjudicated: over 0/verdict/result = "played" => verdict.result: playing gives "adjudicated"
adjudicated: over 0/verdict/reason = "draw" => verdict.reason: playing gives "win"
last_seat: over 0/verdict/places = [1,2,3] => verdict.places[1]: playing gives 3
last_seat: over 0/verdict/reason = "resigned" => verdict.reason: playing gives "last_seat"
last_seat: over 0/verdict/seats/0/fault = {"kind":"gone","turn":5,"text":""} => verdict.seats[0].fault: playing gives null
last_seat: copy retired 0 to turn 2 => seat 1 is retired a second time
last_seat: drop retired 0 => it says turn 5 and seat 2, but by the rules it is turn 4 and seat 1
last_seat: drop retired 1 => seat 2 is out (resigned: 
last_seat: retired 0/seat = 7 => there is no seat 7
last_seat: retired 0/turn = 9 => turn: playing gives 2, the transcript says 9
last_seat: retired 0/fault/turn = 9 => it says turn 9, but by the rules it is turn 2
retired: over 0/verdict/places = [1,1,1] => verdict.places[0]: playing gives 3
retired: header 0/on_fault = "end" => `ready` of seat 1: its line gives null

# The header and the form.
played: header 0/match = "0123456789abcdef" => line 1: such a match is 
played: header 0/match = "" => line 1: such a match is 
played: header 0/seed = 8 => line 1: such a match is 
played: header 0/game_number = 1 => line 1: such a match is 
played: header 0/seats/0/digest = "ab" => line 1: such a match is 
played: header 0/seats/0/colour = "green" => line 1: seat 0 is "black", the header says "green"
played: header 0/setup/size = 77 => line 1: setup of hex
played: header 0/setup/sise = 3 => did you mean `size`?
played: header 0/setup/first = "red" => 
played: header 0/seats/1/seat = 2 => line 1: the header must list the seats 0 to 1
played: header 0/rules = 2 & header 0/referee = "0.0.1" & before played 1 says {"type":"resign"} => ; recorded under rules 2, this referee has rules 1
played: copy header 0 to line 0 => line 2: a second header
played: header 0/rules = 2 => line 1: recorded under rules 2, this referee has rules 1
htp: header 0/seats/0/protocol/name = "old" => line 1: the lines of seat 0 are in `old`, which this referee can't read
played: header 0/sandbox/level = "vault" => line 1: this referee knows no sandbox level "vault"

# What a transcript doesn't show, and what other versions wrote otherwise.
void: over 0/verdict/void/seat = 1 => ok
late: over 0/verdict/seats/1/fault/text = "too slow" => ok
illegal: over 0/verdict/seats/0/fault/legal = null => ok
played: over 0/verdict/seats/0/peak_memory_kb = 7 => ok
played: header 0/rules = 2 & header 0/referee = "0.0.1" => ok; recorded under rules 2, this referee has rules 1
played: header 0/sandbox/level = "vault" & header 0/referee = "9.0.0" => ok; this referee knows no sandbox level "vault"
played: header 0/referee = "0.0.1" => ok
late_cpu: header 0/sandbox/cores = 1 & header 0/sandbox/layers = ["cgroup v2"] => ok
late_cpu: header 0/sandbox/cores = 1 & header 0/seats/0/games_before = 1 & header 0/sandbox/layers = ["memory watchdog"] & over 0/at_ns += -58000000000 => ok
memory: header 0/sandbox/layers = ["cgroup v2"] & over 0/verdict/seats/0/peak_memory_kb = 524280 => ok
memory: over 0/verdict/seats/0/peak_memory_kb = 1000 => ok
memory: header 0/seats/0/command = ["referee","adapter","comp30024"] & header 0/sandbox/layers = ["cgroup v2"] & over 0/verdict/seats/0/peak_memory_kb = 1000 => ok
htp: header 0/referee = "0.0.1" & header 0/seats/0/protocol/name = "old" => ok; the lines of seat 0 are in `old`, which this referee can't read
htp: header 0/referee = "0.0.1" & header 0/seats/0/protocol/name = "old" & played 1/action = {"at":[2,2],"type":"place"} => turn 1: seat 1 answered
"#;

#[test]
fn forgeries_disagree() {
    let samples = all();
    let mut wrong = Vec::new();
    for row in FORGERIES.lines().filter(|row| !row.is_empty() && !row.starts_with('#')) {
        let (change, words) = row.split_once(" => ").expect("the report");
        let (sample, edits) = change.split_once(": ").expect("a sample");
        let (_, events) = samples.iter().find(|(name, _)| *name == sample).expect("such a sample");
        let mut events: Vec<Value> = events.iter().map(|event| to_value(event).unwrap()).collect();
        let before = events.clone();
        edits.split(" & ").for_each(|edit| apply(&mut events, edit));
        assert_ne!(events, before, "{row} changes nothing");
        // As the recorder writes it, and with its keys sorted.
        let sorted: Vec<String> = events.iter().map(Value::to_string).collect();
        let typed = |event: Value| from_value::<Event>(event).unwrap();
        let mut written: Vec<String> = Vec::new();
        for event in events.into_iter().map(typed) {
            let mut line = Vec::new();
            event.write_json(&mut line);
            written.push(String::from_utf8(line).unwrap());
        }
        let (status, words) = match words.strip_prefix("ok") {
            Some(words) => (Status::Ok, words),
            None => (Status::Disagrees, words),
        };
        for lines in [written, sorted] {
            let report = verify(&sealed_lines(&lines), &Games::default());
            let fits = report.status == status && report.detail.contains(words);
            if !fits || report.seal.is_none() {
                wrong.push(format!("{row}\n    {}: {}", report.status, report.detail));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn apply(events: &mut Vec<Value>, edit: &str) {
    if let Some(event) = edit.strip_prefix("drop ") {
        events.remove(find(events, event));
    } else if let Some(copy) = edit.strip_prefix("copy ") {
        let (event, to) = copy.split_once(" to ").expect("where to");
        let event = events[find(events, event)].clone();
        let to = if to == "end" { events.len() } else { find(events, to) };
        events.insert(to, event);
    } else if let Some((event, text)) = edit.split_once(" says ") {
        let line = find(events, event);
        assert_eq!(events[line]["type"], "line", "{edit}");
        events[line]["line"] = text.into();
    } else if let Some((place, change)) = edit.split_once(" += ") {
        let value = field(events, place);
        let number = value.as_u64().unwrap().checked_add_signed(change.parse().unwrap());
        *value = number.unwrap().into();
    } else {
        let (place, value) = edit.split_once(" = ").expect("a value");
        *field(events, place) = from_str(value).expect("JSON");
    }
}

/// Finds a field, such as `over 0/verdict/seats/0/turns`.
fn field<'a>(events: &'a mut [Value], place: &str) -> &'a mut Value {
    let mut steps = place.split('/');
    let event = find(events, steps.next().expect("an event"));
    steps.fold(&mut events[event], |value, step| match step.parse::<usize>() {
        Ok(index) => &mut value[index],
        Err(_) => &mut value[step],
    })
}

fn find(events: &[Value], event: &str) -> usize {
    if let Some(after) = event.strip_prefix("before ") {
        return find(events, after) - 1;
    }
    if let Some(line) = event.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        return events.iter().position(|event| event["line"] == line).expect("such a line");
    }
    let (kind, number) = event.split_once(' ').expect("a type and a number");
    let all = events.iter().enumerate().filter(|(_, event)| event["type"] == kind);
    let all: Vec<usize> = all.map(|(index, _)| index).collect();
    let number: isize = number.parse().expect("a number");
    let from = if number < 0 { all.len() } else { 0 };
    all[from.checked_add_signed(number).expect("such an event")]
}

/// Readers of JSON differ in which of two equal keys they take.
#[test]
fn an_action_has_each_key_once() {
    let lines = unsealed_lines(&sealed(&hex_played()));
    let action = r#""action":{"at":[1,0],"#;
    let twice = lines.join("\n").replacen(action, r#""action":{"at":[2,2],"at":[1,0],"#, 1);
    assert!(twice.contains(r#"[2,2],"at""#), "{twice}");
    let lines: Vec<String> = twice.lines().map(str::to_owned).collect();
    let report = verify(&sealed_lines(&lines), &Games::default());
    assert_eq!(report.status, Status::Disagrees, "{}", report.detail);
}

#[test]
fn a_setup_has_each_key_once() {
    let lines = unsealed_lines(&sealed(&hex_played()));
    let twice = lines.join("\n").replacen("\"setup\":{", "\"setup\":{\"size\":5,\"size\":3,", 1);
    let lines: Vec<String> = twice.lines().map(str::to_owned).collect();
    let report = verify(&sealed_lines(&lines), &Games::default());
    assert_eq!(report.status, Status::Unreadable, "{}", report.detail);
    assert!(report.detail.contains("line 1: duplicate key"), "{}", report.detail);
}

#[test]
fn lines_that_are_no_events_disagree() {
    let both = r#"{"type":"turn","at_ns":1,"turn":0,"seat":0,"left_ms":null,"type":"turn"}"#;
    for line in ["", "hello", "[]", "{}", r#"{"type":7}"#, r#"{"type":"turn"}"#, both] {
        let mut lines = unsealed_lines(&sealed(&hex_played()));
        lines.insert(2, line.to_owned());
        let report = verify(&sealed_lines(&lines), &Games::default());
        assert_eq!(report.status, Status::Disagrees, "{line}: {}", report.detail);
        assert!(report.detail.contains("line 3 is not an event"), "{}", report.detail);
    }
}
