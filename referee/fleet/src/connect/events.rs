//! The library's connection events as types. For two of them the library and the protocol have
//! only text; it is parsed here and nowhere else.

use async_nats::{ClientError, ConnectErrorKind, Event, ServerError};
use referee_protocol::sanitize::sanitize;
use std::fmt;

/// The beginning of the protocol's `-ERR` line for a missing permission.
const PERMISSIONS: &str = "permissions violation";

/// A permission error of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionDenied {
    /// The server's text.
    text: String,
}

impl PermissionDenied {
    /// Parses a server error; returns the sanitized text of any other error.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let text = sanitize(text);
        let is_it = text.to_lowercase().contains(PERMISSIONS);
        if is_it { Ok(Self { text }) } else { Err(text) }
    }
}

impl fmt::Display for PermissionDenied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns whether the server rejects this user now.
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
    use super::{PermissionDenied, is_not_admitted};
    use async_nats::{ClientError, ConnectErrorKind, Event, ServerError};

    #[test]
    fn texts_of_the_library_become_types() {
        let kind = ConnectErrorKind::AuthorizationViolation.to_string();
        for (event, is_it) in [
            (Event::ServerError(ServerError::AuthorizationViolation), true),
            (Event::ClientError(ClientError::Other(kind)), true),
            (Event::ServerError(ServerError::Other("slow".to_owned())), false),
        ] {
            assert_eq!(is_not_admitted(&event), is_it, "{event}");
        }
        let text = "Permissions Violation for Publish to \"$O.referee-0123.M.x\"";
        let denied = PermissionDenied::read(text).unwrap();
        assert_eq!(denied.to_string(), text);
        assert!(PermissionDenied::read("permissions violation").is_ok());
        assert_eq!(PermissionDenied::read("slow\u{1b}").unwrap_err(), "slow\u{FFFD}");
    }
}
