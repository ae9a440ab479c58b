//! What the library reports of a connection, with its causes as types. Of some of them the library, and
//! the protocol with the server, have nothing but words: these are read here and nowhere else.

use async_nats::{ClientError, ConnectErrorKind, Event, ServerError};
use referee_protocol::plain::tame;
use std::fmt;

/// How the protocol's `-ERR` line begins where something is refused for want of permission.
const PERMISSIONS: &str = "permissions violation";

/// What became of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    /// It has come about or is there again, or it is lost.
    Up(bool),
    /// The server doesn't let in this user any more.
    NotAdmitted,
    /// The server has refused something for want of permission.
    Denied(Denied),
    /// The server complains of something else.
    Warning(String),
    /// Anything else, for whoever looks for errors.
    Other(String),
}

/// What a server has refused for want of permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// In the server's words, which name the subject last: `.. for Publish to "SUBJECT"`.
    text: String,
}

impl Denied {
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

impl Notice {
    /// Of an event of the library.
    pub(super) fn of(event: &Event) -> Self {
        let not_admitted =
            [ConnectErrorKind::AuthorizationViolation, ConnectErrorKind::Authentication];
        match event {
            Event::Connected => Self::Up(true),
            Event::Disconnected | Event::Closed => Self::Up(false),
            Event::ServerError(ServerError::AuthorizationViolation) => Self::NotAdmitted,
            Event::ClientError(ClientError::Other(text))
                if not_admitted.iter().any(|kind| kind.to_string() == *text) =>
            {
                Self::NotAdmitted
            }
            Event::ServerError(ServerError::Other(text)) => {
                let text = tame(text);
                if text.to_lowercase().contains(PERMISSIONS) {
                    Self::Denied(Denied { text })
                } else {
                    Self::Warning(text)
                }
            }
            other => Self::Other(tame(&other.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Notice;
    use async_nats::{ClientError, ConnectErrorKind, Event, ServerError};

    #[test]
    fn words_of_the_library_become_causes() {
        let kind = ConnectErrorKind::AuthorizationViolation.to_string();
        for event in [
            Event::ServerError(ServerError::AuthorizationViolation),
            Event::ClientError(ClientError::Other(kind)),
        ] {
            assert_eq!(Notice::of(&event), Notice::NotAdmitted);
        }
        let server = |text: &str| Notice::of(&Event::ServerError(ServerError::Other(text.into())));
        assert_eq!(server("slow\u{1b}"), Notice::Warning("slow\u{FFFD}".to_owned()));
        let text = "Permissions Violation for Publish to \"$O.referee-0123.M.x\"";
        let Notice::Denied(denied) = server(text) else { panic!("{text}") };
        assert_eq!(denied.to_string(), text);
        assert!(denied.is_about("0123") && !denied.is_about("01") && !denied.is_about("Publish"));
        assert!(matches!(server("permissions violation"), Notice::Denied(_)));
    }
}
