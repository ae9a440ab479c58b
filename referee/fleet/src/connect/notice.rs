//! What the library reports of a connection, with its causes as types. Of some of them the library, and
//! the protocol with the server, have nothing but words: these are read here and nowhere else.

use async_nats::{ClientError, ConnectErrorKind, Event, ServerError};
use referee_protocol::plain::tame;
use std::fmt;

/// How the protocol's `-ERR` line begins where something is refused for want of permission.
const PERMISSIONS: &str = "permissions violation";

/// What a server has refused for want of permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// In the server's words, which name the subject last: `.. for Publish to "SUBJECT"`.
    text: String,
}

impl Denied {
    /// What the server complains of; an error is that it is something else, tame.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let text = tame(text);
        let is_it = text.to_lowercase().contains(PERMISSIONS);
        if is_it { Ok(Self { text }) } else { Err(text) }
    }

    /// Whether the refused subject has this name as one of its parts.
    pub fn is_about(&self, name: &str) -> bool {
        let subject = self.text.split('"').nth(1).unwrap_or_default();
        subject.split(['.', '-']).any(|part| part == name)
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Whether the server doesn't let in this user any more.
pub(super) fn is_not_admitted(event: &Event) -> bool {
    let not_admitted = [ConnectErrorKind::AuthorizationViolation, ConnectErrorKind::Authentication];
    match event {
        Event::ServerError(ServerError::AuthorizationViolation) => true,
        Event::ClientError(ClientError::Other(text)) => {
            not_admitted.iter().any(|kind| kind.to_string() == *text)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Denied, is_not_admitted};
    use async_nats::{ClientError, ConnectErrorKind, Event, ServerError};

    #[test]
    fn words_of_the_library_become_causes() {
        let kind = ConnectErrorKind::AuthorizationViolation.to_string();
        for (event, is_it) in [
            (Event::ServerError(ServerError::AuthorizationViolation), true),
            (Event::ClientError(ClientError::Other(kind)), true),
            (Event::ServerError(ServerError::Other("slow".to_owned())), false),
        ] {
            assert_eq!(is_not_admitted(&event), is_it, "{event}");
        }
        let text = "Permissions Violation for Publish to \"$O.referee-0123.M.x\"";
        let denied = Denied::read(text).unwrap();
        assert_eq!(denied.to_string(), text);
        assert!(denied.is_about("0123") && !denied.is_about("01") && !denied.is_about("Publish"));
        assert!(Denied::read("permissions violation").is_ok());
        assert_eq!(Denied::read("slow\u{1b}").unwrap_err(), "slow\u{FFFD}");
    }
}
