//! Why an agent could not answer, as the texts of faults say it. A transcript has only that text, so
//! this module also reads it back.

use std::borrow::Cow;

/// Why an agent could not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndReason<'a> {
    /// Its program could not be started.
    NotStarted,
    /// It ran, but sent no `ready` in time.
    Unready,
    /// Its process ended, with this status.
    Exited(&'a str),
    /// It closed its output or input.
    Closed,
}

impl<'a> EndReason<'a> {
    const NOT_STARTED: &'static str = "can't start";
    /// Earlier versions wrote another word before it.
    const UNREADY: &'static str = "no `ready` within";
    const EXITED: &'static str = "ended with ";
    /// Separates the status from what follows it.
    const BEFORE: &'static str = " before ";

    /// Returns the text of a fault [`EndReason::Unready`].
    pub(crate) fn unready(start_ms: u64) -> String {
        format!("sent {} {start_ms} ms", Self::UNREADY)
    }

    /// Returns the text of a fault [`EndReason::Exited`]; `what` it ended before.
    pub(crate) fn exited(status: &str, what: &str) -> String {
        format!("{}{status}{}{what}", Self::EXITED, Self::BEFORE)
    }

    /// Returns the text of a fault in the words for people: "crashed before answering turn 4 (exit
    /// status 1)". Other texts stay as they are.
    pub(crate) fn in_words(text: &str) -> Cow<'_, str> {
        let Some((status, before)) =
            text.strip_prefix(Self::EXITED).and_then(|rest| rest.split_once(Self::BEFORE))
        else {
            return Cow::Borrowed(text);
        };
        Cow::Owned(format!("{} before {before} ({status})", Self::what(status)))
    }

    /// Says how a process ended with a status.
    pub(crate) fn what(status: &str) -> &'static str {
        if status == "exit status 0" { "exited" } else { "crashed" }
    }

    /// Reads the text of a fault `start` or `gone`.
    pub(crate) fn read(text: &'a str) -> Self {
        if let Some(rest) = text.strip_prefix(Self::EXITED) {
            return Self::Exited(rest.split_once(Self::BEFORE).map_or(rest, |(status, _)| status));
        }
        match text {
            _ if text.starts_with(Self::NOT_STARTED) => Self::NotStarted,
            _ if text.contains(Self::UNREADY) => Self::Unready,
            _ => Self::Closed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EndReason;

    #[test]
    fn texts_are_read_back() {
        let crash = EndReason::exited("signal 11 (SIGSEGV)", "answering turn 4");
        assert_eq!(crash, "ended with signal 11 (SIGSEGV) before answering turn 4");
        assert_eq!(EndReason::read(&crash), EndReason::Exited("signal 11 (SIGSEGV)"));
        assert_eq!(
            EndReason::in_words(&crash),
            "crashed before answering turn 4 (signal 11 (SIGSEGV))"
        );
        let exit = EndReason::exited("exit status 0", "it sent `ready`");
        assert_eq!(EndReason::in_words(&exit), "exited before it sent `ready` (exit status 0)");
        assert_eq!(EndReason::in_words("closed its stdin"), "closed its stdin");
        assert_eq!(EndReason::read(&EndReason::unready(10)), EndReason::Unready);
        let old = "gave no `ready` within 10 ms";
        assert_eq!(EndReason::read(old), EndReason::Unready);
        assert_eq!(EndReason::read("can't start `./bot`: no such file"), EndReason::NotStarted);
        assert_eq!(EndReason::read("closed its stdout before turn 2"), EndReason::Closed);
    }
}
