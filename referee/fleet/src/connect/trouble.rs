//! Why there is no connection, in words, with what to do about it.

use super::{Server, Unready};
use async_nats::client::RequestErrorKind;
use async_nats::rustls::{AlertDescription, CertificateError, Error as TlsError};
use async_nats::{ConnectError, ConnectErrorKind};
use referee_process::Failure;
use referee_protocol::plain::tame;
use std::error::Error;
use std::io;

/// The number of the error of servers that are still finding together.
const UNAVAILABLE: u64 = 10_008;
/// How to start a server.
const START: &str = "`nats-server -js` starts a server";

/// Whether trying again may help.
pub(super) fn is_passing(error: &ConnectError) -> bool {
    let certain = tls_error(error).is_some();
    match error.kind() {
        ConnectErrorKind::Dns | ConnectErrorKind::TimedOut => true,
        ConnectErrorKind::Io => !certain,
        _ => false,
    }
}

/// Whether nobody listens at the address, as before a server has started.
pub(super) fn is_refused(error: &ConnectError) -> bool {
    let refused = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    causes(error).any(|cause| cause.downcast_ref::<io::Error>().is_some_and(refused))
}

/// Why the connection did not come about.
pub(super) fn explained(error: &ConnectError, shown: &str, server: &Server) -> Failure {
    if let Some(tls) = tls_error(error) {
        return unsafe_connection(tls, shown, server);
    }
    let said = told(error);
    let told = |what: &str, help: &str| Failure::machine(format!("{shown}: {what}")).help(help);
    match error.kind() {
        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => told(
            "the server doesn't let in this user",
            "look at user and password, token, or the file of --creds or --nkey; NATS_USER, \
             NATS_PASSWORD, NATS_TOKEN, NATS_CREDS and NATS_NKEY are taken where no option is \
             given",
        ),
        ConnectErrorKind::Dns => told(
            &format!("there is no such host: {said}"),
            "look at the name, and whether this machine can look names up",
        ),
        ConnectErrorKind::TimedOut => told(
            "nobody answers",
            "look at the address, and whether a firewall is in between; the server listens at port \
             4222 unless it is told another",
        ),
        ConnectErrorKind::Tls => told(
            &format!("TLS can't be begun: {said}"),
            "look at the files of --tls-ca, --tls-cert and --tls-key",
        ),
        _ => told(&said, START),
    }
}

/// What TLS says against it.
fn unsafe_connection(error: &TlsError, shown: &str, server: &Server) -> Failure {
    let own_asked =
        "it asks for a certificate of yours that it can check: --tls-cert and --tls-key";
    let (what, help) = match error {
        TlsError::InvalidMessage(_) => (
            "the server doesn't speak TLS".to_owned(),
            "write nats:// and leave certificates out where nobody else can listen, or give the \
             server a certificate: docs/many-machines.md",
        ),
        TlsError::InvalidCertificate(CertificateError::UnknownIssuer) => (
            "nobody whom this machine trusts vouches for the server's certificate".to_owned(),
            if server.tls_ca.is_some() {
                "--tls-ca names another authority than the one that signed it"
            } else {
                "--tls-ca FILE names the certificate of the authority that signed it"
            },
        ),
        TlsError::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => (
            "the server's certificate is for another name".to_owned(),
            "write the name that is in it instead of this address",
        ),
        TlsError::AlertReceived(
            AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnknownCA,
        ) => ("the server doesn't take this certificate, or none".to_owned(), own_asked),
        other => (tame(&format!("TLS failed: {other}")), "look at the server's certificate"),
    };
    Failure::machine(format!("{shown}: {what}")).help(help)
}

/// Why nothing was answered about `JetStream`.
pub(super) fn unanswered(kind: RequestErrorKind, shown: &str) -> Unready {
    let passing = kind != RequestErrorKind::NoResponders;
    let (what, help) = if passing {
        ("JetStream doesn't answer", "look at the server's log")
    } else {
        (
            "the server keeps nothing: it runs without JetStream",
            "start it with `-js`, or with `jetstream {}` in its configuration",
        )
    };
    let failure = Failure::machine(format!("{shown}: {what}")).help(help);
    Unready { failure, passing, refused: false }
}

/// What the answer about `JetStream` has against it, if it has.
pub(super) fn refusal(answer: &[u8], shown: &str) -> Option<Unready> {
    let told: serde_json::Value = serde_json::from_slice(answer).unwrap_or_default();
    let error = told.get("error")?;
    let text = error.get("description").and_then(|text| text.as_str()).unwrap_or("an error");
    let failure =
        Failure::machine(format!("{shown}: this user can't use JetStream: {}", tame(text)))
            .help("an account of the server's configuration needs `jetstream: enabled`");
    let passing = error.get("err_code").and_then(serde_json::Value::as_u64) == Some(UNAVAILABLE);
    Some(Unready { failure, passing, refused: false })
}

/// What TLS says, where that is the reason.
fn tls_error(error: &ConnectError) -> Option<&TlsError> {
    causes(error).find_map(|cause| {
        let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        let inner = inner.and_then(|inner| inner.downcast_ref::<TlsError>());
        inner.or_else(|| cause.downcast_ref::<TlsError>())
    })
}

/// The innermost reason.
fn told(error: &ConnectError) -> String {
    let innermost = causes(error).last().map(ToString::to_string);
    tame(&innermost.unwrap_or_else(|| error.to_string()))
}

fn causes<'a>(error: &'a ConnectError) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(error.source(), |cause| (*cause).source())
}

#[cfg(test)]
mod tests {
    use super::refusal;

    #[test]
    fn an_answer_about_an_account_has_something_against_it_or_not() {
        let refusal = |answer: &[u8]| refusal(answer, "h");
        assert!(refusal(br#"{"type":"io.nats.jetstream.api.v1.account_info_response"}"#).is_none());
        assert!(refusal(b"garbled").is_none());
        let answer = |code: u64| {
            format!(r#"{{"error":{{"code":503,"err_code":{code},"description":"no \u001b[2J"}}}}"#)
        };
        let lack = refusal(answer(10_039).as_bytes()).unwrap();
        let told = lack.failure.to_string();
        assert!(!lack.passing && told.ends_with("no \u{FFFD}[2J"), "{told}");
        assert!(refusal(answer(10_008).as_bytes()).unwrap().passing);
    }
}
