//! Why an agent was missing, as faults say it. A transcript keeps nothing else of it, so what is
//! written here is read here, too.

/// Why an agent was not there when it was needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absence<'a> {
    /// Its program could not be started.
    NotStarted,
    /// It ran, and did not say `ready` in time.
    Unready,
    /// Its process ended, with this status.
    Exited(&'a str),
    /// It closed its output or input.
    Closed,
}

impl<'a> Absence<'a> {
    const NOT_STARTED: &'static str = "can't start";
    const UNREADY: &'static str = "gave no `ready` within";
    const EXITED: &'static str = "ended with ";
    /// What may follow the status.
    const BEFORE: &'static str = " before ";

    /// The text of a fault [`Absence::Unready`].
    pub(crate) fn unready(start_ms: u64) -> String {
        format!("{} {start_ms} ms", Self::UNREADY)
    }

    /// The text of a fault [`Absence::Exited`]; `what` it ended before.
    pub(crate) fn exited(status: &str, what: &str) -> String {
        format!("{}{status}{}{what}", Self::EXITED, Self::BEFORE)
    }

    /// What the text of a fault `start` or `gone` says.
    pub(crate) fn read(text: &'a str) -> Self {
        if let Some(rest) = text.strip_prefix(Self::EXITED) {
            return Self::Exited(rest.split_once(Self::BEFORE).map_or(rest, |(status, _)| status));
        }
        match text {
            _ if text.starts_with(Self::NOT_STARTED) => Self::NotStarted,
            _ if text.starts_with(Self::UNREADY) => Self::Unready,
            _ => Self::Closed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Absence;

    #[test]
    fn what_is_written_is_read() {
        let crash = Absence::exited("signal 11 (SIGSEGV)", "answering turn 4");
        assert_eq!(crash, "ended with signal 11 (SIGSEGV) before answering turn 4");
        assert_eq!(Absence::read(&crash), Absence::Exited("signal 11 (SIGSEGV)"));
        assert_eq!(Absence::read(&Absence::unready(10)), Absence::Unready);
        assert_eq!(Absence::read("can't start `./bot`: no such file"), Absence::NotStarted);
        assert_eq!(Absence::read("closed its stdout before turn 2"), Absence::Closed);
    }
}
