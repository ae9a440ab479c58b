//! Error messages for failed connections.

use super::{NotConnected, Server};
use async_nats::client::RequestErrorKind;
use async_nats::rustls::{AlertDescription, CertificateError, Error as TlsError};
use async_nats::{ConnectError, ConnectErrorKind};
use referee_process::Failure;
use referee_protocol::sanitize::sanitize;
use std::error::Error;
use std::io;

/// The error code of a cluster that has no leader yet.
const UNAVAILABLE: u64 = 10_008;
/// The help where no server answers.
const START: &str = "start a server with `nats-server -js`";

/// Returns whether trying again may help.
pub(super) fn is_passing(error: &ConnectError) -> bool {
    matches!(error.kind(), ConnectErrorKind::Dns | ConnectErrorKind::TimedOut) || is_refused(error)
}

/// Returns whether the connection was refused or closed at once, as while a server starts or stops.
pub(super) fn is_refused(error: &ConnectError) -> bool {
    error.kind() == ConnectErrorKind::Io && tls_error(error).is_none()
}

/// Returns why connecting failed.
pub(super) fn connect_failure(error: &ConnectError, shown: &str, server: &Server) -> Failure {
    if let Some(tls) = tls_error(error) {
        return unsafe_connection(tls, shown, server);
    }
    let cause = innermost(error);
    let failure = |what: &str, help: &str| Failure::machine(format!("{shown}: {what}")).help(help);
    match error.kind() {
        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => failure(
            "the server rejects this user",
            "check the user and password, the token, or the file of --creds or --nkey; without \
             options they come from NATS_USER, NATS_PASSWORD, NATS_TOKEN, NATS_CREDS and NATS_NKEY",
        ),
        ConnectErrorKind::Dns => failure(
            "host not found",
            "check the host name, and that this machine can resolve names",
        ),
        ConnectErrorKind::TimedOut => failure(
            "no answer",
            "check the address, the port (4222 by default) and any firewall in between",
        ),
        ConnectErrorKind::Tls => failure(
            &format!("TLS failed to start: {cause}"),
            "check the files of --tls-ca, --tls-cert and --tls-key",
        ),
        ConnectErrorKind::Io if !causes(error).any(<dyn Error>::is::<io::Error>) => {
            failure("closed the connection without a NATS server's greeting", START)
        }
        _ => failure(&cause, START),
    }
}

/// Returns why TLS failed.
fn unsafe_connection(error: &TlsError, shown: &str, server: &Server) -> Failure {
    let own_asked = "give a client certificate that the server trusts: --tls-cert and --tls-key";
    let (what, help) = match error {
        TlsError::InvalidMessage(_) => (
            "the server doesn't speak TLS".to_owned(),
            "use nats:// without certificate options on a trusted network, or give the server a \
             certificate: docs/fleet-security.md",
        ),
        TlsError::InvalidCertificate(CertificateError::UnknownIssuer) => (
            "the server's certificate is signed by an unknown authority".to_owned(),
            if server.tls_ca.is_some() {
                "--tls-ca has the certificate of a different authority"
            } else {
                "give the certificate of that authority with --tls-ca FILE"
            },
        ),
        TlsError::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => (
            "the server's certificate is for another name".to_owned(),
            "connect by a name that is in the certificate",
        ),
        TlsError::AlertReceived(
            AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnknownCA,
        ) => ("the server requires a different client certificate".to_owned(), own_asked),
        other => (sanitize(&format!("TLS failed: {other}")), "check the server's certificate"),
    };
    Failure::machine(format!("{shown}: {what}")).help(help)
}

/// Returns why there was no answer about `JetStream`.
pub(super) fn no_answer(kind: RequestErrorKind, shown: &str) -> NotConnected {
    let passing = kind != RequestErrorKind::NoResponders;
    let (what, help) = if passing {
        ("JetStream doesn't answer", "check the server's log")
    } else {
        (
            "the server runs without JetStream",
            "start it with `-js`, or put `jetstream {}` into its configuration",
        )
    };
    let failure = Failure::machine(format!("{shown}: {what}")).help(help);
    NotConnected { failure, passing, refused: false }
}

/// Returns the error in the server's answer about `JetStream`, if there is one.
pub(super) fn answered_error(answer: &[u8], shown: &str) -> Option<NotConnected> {
    let answer: serde_json::Value = serde_json::from_slice(answer).unwrap_or_default();
    let error = answer.get("error")?;
    let text = error.get("description").and_then(|text| text.as_str()).unwrap_or("an error");
    let failure =
        Failure::machine(format!("{shown}: this user can't use JetStream: {}", sanitize(text)))
            .help("the user's account needs `jetstream: enabled` in the server's configuration");
    let passing = error.get("err_code").and_then(serde_json::Value::as_u64) == Some(UNAVAILABLE);
    Some(NotConnected { failure, passing, refused: false })
}

/// Returns the TLS error that caused this one, if any.
fn tls_error(error: &ConnectError) -> Option<&TlsError> {
    causes(error).find_map(|cause| {
        let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        let inner = inner.and_then(|inner| inner.downcast_ref::<TlsError>());
        inner.or_else(|| cause.downcast_ref::<TlsError>())
    })
}

/// Returns the innermost cause.
fn innermost(error: &ConnectError) -> String {
    let innermost = causes(error).last().map(ToString::to_string);
    sanitize(&innermost.unwrap_or_else(|| error.to_string()))
}

fn causes<'a>(error: &'a ConnectError) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(error.source(), |cause| (*cause).source())
}

#[cfg(test)]
mod tests {
    use super::answered_error;

    #[test]
    fn errors_in_an_answer_about_an_account_are_found() {
        let refusal = |answer: &[u8]| answered_error(answer, "h");
        assert!(refusal(br#"{"type":"io.nats.jetstream.api.v1.account_info_response"}"#).is_none());
        assert!(refusal(b"garbled").is_none());
        let answer = |code: u64| {
            format!(r#"{{"error":{{"code":503,"err_code":{code},"description":"no \u001b[2J"}}}}"#)
        };
        let lack = refusal(answer(10_039).as_bytes()).unwrap();
        let text = lack.failure.to_string();
        assert!(!lack.passing && text.ends_with("no \u{FFFD}[2J"), "{text}");
        assert!(refusal(answer(10_008).as_bytes()).unwrap().passing);
    }
}
