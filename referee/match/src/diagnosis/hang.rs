//! What an agent does that doesn't answer and uses no CPU time: what it waits for, what it does when its input ends, and
//! where its code is.

use super::{Defect, Evidence, Finding, Stage, beginning};

/// What was seen of an agent that didn't answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hang {
    /// Whether it or a process that it started ran, or waited for a core, whenever it was looked at.
    pub awake: bool,
    /// What it waits for; once its input is closed, what it still waits for then, if anything.
    pub wait: Option<Wait>,
    /// The name of the process that waits so, or for which it waits, if it is another one that it has started.
    pub process: Option<String>,
    /// How many bytes of its input it had not read.
    pub unread: Option<u64>,
    /// What it did when its input was closed, if that was tried.
    pub at_end: Option<AtEnd>,
    /// Where its code is, such as `bot.py:12`.
    pub place: Option<String>,
}

/// What an agent that doesn't answer does at the end of its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// It writes this line.
    Wrote(Vec<u8>),
    /// It writes this line already when another message comes.
    Prompted(Vec<u8>),
    /// It ends without a word.
    Ended,
    /// It ends by an error, of which this is the line.
    Failed(String),
    /// It waits on.
    Stays,
}

/// What a process waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// A line on stdin.
    Input,
    /// Events of any kind, input among them: the loop of Node, or a call such as `select`.
    Events,
    /// A time.
    Time,
    /// A lock, or another thread.
    Thread,
    /// A process that it started.
    Process,
    /// A network connection.
    Network,
    /// That somebody reads what it writes.
    Output,
}

impl Wait {
    /// Returns what a process waits for that is in this system call, which may read stdin or another pipe.
    pub fn of(call: &str, reads_stdin: bool, reads_pipe: bool, is_unlimited: bool) -> Option<Self> {
        Some(match call {
            "read" | "readv" if reads_stdin => Self::Input,
            "read" | "readv" if reads_pipe => Self::Process,
            "poll" | "ppoll" | "select" | "pselect6" | "epoll_wait" | "epoll_pwait" => {
                if is_unlimited {
                    Self::Events
                } else {
                    Self::Time
                }
            }
            "nanosleep" | "clock_nanosleep" => Self::Time,
            "futex" | "flock" | "fcntl" => Self::Thread,
            "wait4" | "waitid" => Self::Process,
            "recvfrom" | "recvmsg" | "accept" | "accept4" | "connect" => Self::Network,
            "write" | "writev" => Self::Output,
            _ => return None,
        })
    }

    /// Returns what a runtime says in its stack that the agent's code waits for, if it is a time.
    pub fn of_stack(stack: &str) -> Option<Self> {
        // Of Java, which waits for times as for locks, and of Go.
        let sleeps = ["TIMED_WAITING (sleeping)", "goroutine 1 [sleep"];
        sleeps.iter().any(|it| stack.contains(it)).then_some(Self::Time)
    }

    /// Whether closing the input may end it.
    pub fn may_end_with_input(self) -> bool {
        matches!(self, Self::Input | Self::Events | Self::Thread | Self::Process)
    }
}

/// Explains why no answer comes; `None` if nothing is known.
pub(super) fn explain(what: &str, known: &Evidence<'_>) -> Option<Finding> {
    let hang = known.hang?;
    let found =
        |doing: &str, fix: &str| Finding::new(Defect::Waiting, format!("{what}; {doing}")).fix(fix);
    let process = hang.process.as_deref().filter(|_| hang.wait != Some(Wait::Process));
    Some(match (&hang.at_end, process) {
        (Some(AtEnd::Wrote(line)), Some(name)) => found(
            &format!(
                "`{name}`, which it has started, reads its input; only when that was closed came {}",
                beginning(line)
            ),
            &format!(
                "let `{name}` write each line at once (`grep --line-buffered`, `sed -u`, `stdbuf -oL {name}`), or, if it \
                 shouldn't read the agent's input, give it another (in Python, `stdin=subprocess.DEVNULL`)"
            ),
        ),
        (Some(AtEnd::Wrote(line)), None) => {
            let fix = if hang.wait == Some(Wait::Events) {
                "answer each line of stdin when it comes, and flush the answer: don't collect them up to the end and, with \
                 `select` or `poll`, first take all lines that are already in the buffer of the library"
            } else if known.stage == Stage::LaterTurn {
                "it has flushed its earlier answers, so here it probably reads another line before it answers: look for a \
                 second read in this branch; each message is one line, and after a `turn` the next one comes only after the \
                 answer"
            } else {
                "end every line with `\\n` and flush stdout after it (`print(.., flush=True)`, `fflush(stdout)`, `std::endl`, \
                 `System.out.flush()`, `$stdout.sync = true`), and read stdin line by line instead of to its end"
            };
            found(
                &format!("it wrote this only when its input was closed: {}", beginning(line)),
                fix,
            )
        }
        (Some(AtEnd::Failed(line)), None) => found(
            &format!("it waits for another line, without which it fails: {line}"),
            before_the_next(known.stage),
        ),
        (Some(AtEnd::Prompted(line)), _) => found(
            &format!("it wrote this only when another line came: {}", beginning(line)),
            before_the_next(known.stage),
        ),
        (Some(AtEnd::Stays), None) if hang.wait == Some(Wait::Input) => {
            let place = hang.place.as_ref().map(|place| format!(" in {place}")).unwrap_or_default();
            found(
                &format!(
                    "it has read its input, and waits for more without an answer; at the end of its input it loops{place}"
                ),
                "find out why it writes nothing here: a handler of exceptions may hide the error (let it print that to stderr; in \
                 Python, `traceback.print_exc()`), or a branch may do nothing; and leave the loop when the input ends",
            )
        }
        (Some(AtEnd::Ended), None) => {
            found("it has read its input, and waits for more without an answer", &unanswered(known))
        }
        (Some(AtEnd::Ended | AtEnd::Failed(_)) | None, Some(name))
            if hang.wait == Some(Wait::Input) =>
        {
            found(
                &format!("`{name}`, which it has started, reads its input"),
                "give that process another input (in Python, `stdin=subprocess.DEVNULL`), or let it answer",
            )
        }
        _ => return by_wait(what, known),
    })
}

/// Returns the advice to an agent that reads on before it answers.
fn before_the_next(stage: Stage) -> &'static str {
    match stage {
        Stage::Start => {
            "answer `hello` before you read the next line, which comes only after `ready`"
        }
        _ => {
            "answer `turn` before you read the next line: each message is one line, and after a `turn` the next one comes \
             only after the answer"
        }
    }
}

/// Returns the advice to an agent that has read its request and doesn't answer it. One that ends at once at the end of
/// its input (`_exit`) never writes what it hasn't flushed.
pub(super) fn unanswered(known: &Evidence<'_>) -> String {
    let legal = known.legal();
    match (known.stage, legal.as_slice()) {
        (Stage::FirstTurn | Stage::LaterTurn, [only]) if only["type"] == "pass" => {
            format!("answer every `turn`, also if its only legal action is {only}")
        }
        (Stage::Start, _) => "write `ready`, and flush it, when a message comes whose `type` is `hello`: compare that name, and look for a \
                              branch that writes nothing"
            .to_owned(),
        (Stage::FirstTurn, _) => "write an `action`, and flush it, when a message comes whose `type` is `turn`: compare that name, and look \
                                  for a branch or a handler of exceptions that writes nothing"
            .to_owned(),
        (Stage::LaterTurn, _) => "find out how this `turn` differs from those that it answered, and look for a branch that \
                                  writes nothing, a handler that hides an exception, or a promise or an event that never comes"
            .to_owned(),
    }
}

/// Explains why an agent is still running that should have ended.
pub fn still_running(what: &str, known: &Evidence<'_>) -> Finding {
    let usual = Finding::new(Defect::Stays, what);
    match (known.hang.filter(|hang| hang.awake), known.hang.and_then(|it| it.place.as_ref())) {
        (Some(_), place) => {
            let place = place.map(|place| format!(" in {place}")).unwrap_or_default();
            Finding::new(Defect::Stays, format!("{what}; it computes{place}")).fix(
                "leave the loop when `over` comes or stdin ends: at its end each read returns at once with nothing (in Python, \
                 `readline()` with an empty text)",
            )
        }
        (None, Some(_)) => match by_wait(what, known) {
            Some(found) => Finding { what: found.what, ..usual },
            None => usual,
        },
        (None, None) => usual,
    }
}

fn by_wait(what: &str, known: &Evidence<'_>) -> Option<Finding> {
    let hang = known.hang?;
    let (doing, fix) = match hang.wait? {
        Wait::Time => (
            "sleeps",
            "remove the pause, or keep it shorter than `left_ms` of the `turn`, which is in milliseconds",
        ),
        Wait::Thread => (
            "waits for a lock, a queue or another thread",
            "find out who holds the lock, or who should have put something into the queue: a thread may have ended without \
             a result",
        ),
        Wait::Process => (
            "waits for a process that it started",
            "flush what you write to that process, or close its input; read what it writes; or give the wait a time limit",
        ),
        Wait::Network => (
            "waits for a network connection",
            "do without: agents have no network; put what it would download into its folder",
        ),
        Wait::Output => (
            "waits until somebody reads what it writes",
            "read what the processes write that it started, and write less in a turn",
        ),
        Wait::Events if hang.at_end == Some(AtEnd::Stays) => (
            "waits for an event that doesn't come, even at the end of its input",
            "find out what should wake it: a promise, an event or a task that nobody completes",
        ),
        Wait::Input | Wait::Events => return None,
    };
    let place = hang.place.as_ref().map(|place| format!(" in {place}")).unwrap_or_default();
    let process = match (&hang.process, hang.wait) {
        (None, _) => String::new(),
        (Some(name), Some(Wait::Process)) => format!(" (`{name}`)"),
        (Some(name), _) => format!(" (its process `{name}`)"),
    };
    let read = match hang.unread {
        Some(1..) => "it has not read its input, and",
        _ => "it has read its input, and",
    };
    Some(Finding::new(Defect::Waiting, format!("{what}; {read} {doing}{process}{place}")).fix(fix))
}
