//! Authentication and TLS with a server, and the messages when they fail.

use super::certificates::Certificates;
use super::process::start_coordinator;
use super::server::Server;
use crate::support::{RunResult, TestDir};

/// A password that must never be printed.
const SECRET: &str = "s3cret";

/// Runs an idle worker with these arguments and variables.
fn worker(dir: &TestDir, url: &str, words: &[&str], variables: &[(&str, &str)]) -> RunResult {
    let idle = ["worker", url, "--idle", "100ms", "--jobs", "1", "--name", "w"];
    let words = [&idle, words].concat();
    let ran = dir.run_with(&words, |it| it.envs(variables.iter().copied()));
    assert!(!ran.stderr.contains(SECRET) && !ran.stdout.contains(SECRET), "{ran:?}");
    // An idle worker must have been connected.
    assert!(!ran.stderr.contains("can't be reached; played"), "{ran:?}");
    ran
}

/// Returns the server's address with a user part.
fn with(server: &Server, user: &str) -> String {
    format!("nats://{user}@127.0.0.1:{}", server.port)
}

#[test]
fn users_and_passwords() {
    let users = format!(
        "authorization {{ users: [ {{ user: u, password: \"{SECRET}\" }},\n\
         {{ user: v, password: v, permissions: {{ publish: {{ deny: \"$JS.>\" }} }} }} ] }}"
    );
    let Some(server) = Server::start_with(&users) else { return };
    let dir = TestDir::new();
    worker(&dir, &with(&server, &format!("u:{SECRET}")), &[], &[]).code(0);
    let variables = [("NATS_USER", "u"), ("NATS_PASSWORD", SECRET)];
    worker(&dir, &server.url(), &[], &variables).code(0);
    worker(&dir, &server.url(), &["--user", "u"], &variables[1..]).code(0);
    let encoded = format!("u:%73{}", &SECRET[1..]);
    worker(&dir, &with(&server, &encoded), &[], &[("NATS_TOKEN", "other")]).code(0);
    for url in &[with(&server, &format!("v:{SECRET}")), server.url(), with(&server, SECRET)] {
        let ran = worker(&dir, url, &[], &[]).code(4);
        let expected = format!("{}: the server rejects this user", server.url());
        ran.stderr_has(&expected).stderr_has("NATS_PASSWORD");
    }
    worker(&dir, &with(&server, "v:v"), &[], &[])
        .code(4)
        .stderr_has("can't use JetStream: Permissions Violation for Publish")
        .stderr_has("docs/fleet-security.md");
    // The server has no TLS.
    let url = with(&server, &format!("u:{SECRET}")).replace("nats://", "tls://");
    worker(&dir, &url, &[], &[]).code(4).stderr_has("the server doesn't speak TLS");
    let wrong = format!("http://u:{SECRET}@127.0.0.1");
    worker(&dir, &wrong, &[], &[]).code(2).stderr_has("tls://HOST:PORT");
}

#[test]
fn a_user_that_is_no_longer_accepted_is_reported() {
    let users = |password: &str| format!("authorization {{ user: u, password: \"{password}\" }}");
    let Some(mut server) = Server::start_with(&users(SECRET)) else { return };
    let dir = TestDir::new();
    dir.write("c.toml", "agents = [\"@random\", \"@first\"]\ngame = \"hex\"\n");
    let url = with(&server, &format!("u:{SECRET}"));
    let coordinator = start_coordinator(&dir, &["run", "c.toml", "--out", "there"], &url);
    coordinator.wait_for_stderr("no worker has connected yet");
    server.kill();
    let shown = server.url();
    coordinator.wait_for_stderr(&format!("lost the connection to {shown}; retrying"));
    server.restart_with(&users("other"));
    let expected = format!("{shown}: the server rejects this user now");
    coordinator.wait_for_stderr(&expected);
    server.kill();
    server.restart_with(&users(SECRET));
    coordinator.wait_for_stderr(&format!("reconnected to {shown}"));
    let ran = coordinator.kill();
    assert!(!ran.stderr.contains(SECRET) && !ran.stdout.contains(SECRET), "{ran:?}");
    assert_eq!(ran.stderr.matches(&expected).count(), 1, "{ran:?}");
}

#[test]
fn tokens() {
    let token = format!("authorization {{ token: \"{SECRET}\" }}");
    let Some(server) = Server::start_with(&token) else { return };
    let dir = TestDir::new();
    worker(&dir, &with(&server, SECRET), &[], &[]).code(0);
    worker(&dir, &server.url(), &[], &[("NATS_TOKEN", SECRET)]).code(0);
    worker(&dir, &server.url(), &[], &[("NATS_USER", SECRET)]).code(0);
    let ran = worker(&dir, &server.url(), &[], &[("NATS_TOKEN", "other")]).code(4);
    ran.stderr_has("rejects this user");
}

#[test]
fn keys() {
    let Some(server) = Server::start_with(include_str!("users/nkeys.conf")) else { return };
    let dir = TestDir::new();
    let right = dir.write("right.nk", include_str!("users/user.nk"));
    let other = dir.write("other.nk", include_str!("users/stranger.nk"));
    let empty = dir.write("empty.nk", SECRET);
    worker(&dir, &server.url(), &["--nkey", &right], &[]).code(0);
    worker(&dir, &server.url(), &[], &[("NATS_NKEY", &right)]).code(0);
    worker(&dir, &server.url(), &["--nkey", &other], &[]).code(4).stderr_has("rejects this user");
    let ran = worker(&dir, &server.url(), &["--nkey", &empty], &[]).code(2);
    ran.stderr_has("no seed of a user's nkey found");
    worker(&dir, &server.url(), &["--nkey", "gone.nk"], &[]).code(2).stderr_has("gone.nk");
}

#[test]
fn credentials() {
    let Some(server) = Server::start_with(include_str!("users/operator.conf")) else { return };
    let dir = TestDir::new();
    let right = dir.write("right.creds", include_str!("users/user.creds"));
    let other = dir.write("other.creds", include_str!("users/stranger.creds"));
    let empty = dir.write("empty.creds", SECRET);
    worker(&dir, &server.url(), &["--creds", &right], &[]).code(0);
    worker(&dir, &server.url(), &[], &[("NATS_CREDS", &right)]).code(0);
    worker(&dir, &server.url(), &["--creds", &other], &[]).code(4).stderr_has("rejects this user");
    let ran = worker(&dir, &server.url(), &["--creds", &empty], &[]).code(2);
    ran.stderr_has("no credentials found");
}

#[test]
fn servers_without_jetstream_are_reported() {
    let Some(server) = Server::start_with("jetstream: false") else { return };
    let dir = TestDir::new();
    let ran = worker(&dir, &server.url(), &[], &[]).code(4);
    ran.stderr_has("runs without JetStream").stderr_has("`-js`");
    let accounts = "accounts { A: { users: [ { user: a, password: a } ] } }";
    let Some(server) = Server::start_with(accounts) else { return };
    let ran = worker(&dir, &with(&server, "a:a"), &[], &[]).code(4);
    ran.stderr_has("can't use JetStream").stderr_has("jetstream: enabled");
}

#[test]
fn server_certificates_are_checked() {
    let dir = TestDir::new();
    let Some(certificates) = Certificates::make(&dir) else { return };
    let Some(server) = Server::start_with(&certificates.server("here", false)) else { return };
    let url = server.url().replace("nats://", "tls://");
    let [ca, other] = ["ca.pem", "stranger.pem"];
    worker(&dir, &url, &["--tls-ca", ca], &[]).code(0);
    worker(&dir, &url, &[], &[("NATS_CA", ca)]).code(0);
    // The server requires TLS whatever the address says.
    worker(&dir, &server.url(), &["--tls-ca", ca], &[]).code(0);
    for url in [&url, &server.url()] {
        let ran = worker(&dir, url, &[], &[]).code(4);
        ran.stderr_has("signed by an unknown authority").stderr_has("--tls-ca FILE");
    }
    let ran = worker(&dir, &url, &["--tls-ca", other], &[]).code(4);
    ran.stderr_has("--tls-ca has the certificate of a different authority");
    worker(&dir, &url, &["--tls-ca", "gone.pem"], &[]).code(2).stderr_has("gone.pem");
    dir.write("empty.pem", "");
    let ran = worker(&dir, &url, &["--tls-ca", "empty.pem"], &[]).code(2);
    ran.stderr_has("empty.pem: no certificate found");
    let Some(server) = Server::start_with(&certificates.server("elsewhere", false)) else { return };
    let url = server.url().replace("nats://", "tls://");
    let ran = worker(&dir, &url, &["--tls-ca", ca], &[]).code(4);
    ran.stderr_has("the server's certificate is for another name");
}

#[test]
fn client_certificates_are_sent() {
    let dir = TestDir::new();
    let Some(certificates) = Certificates::make(&dir) else { return };
    let Some(server) = Server::start_with(&certificates.server("here", true)) else { return };
    let url = server.url();
    let own = |certificate: &'static str, key: &'static str| {
        ["--tls-ca", "ca.pem", "--tls-cert", certificate, "--tls-key", key]
    };
    worker(&dir, &url, &own("client.pem", "client.key"), &[]).code(0);
    let variables =
        [("NATS_CA", "ca.pem"), ("NATS_CERT", "client.pem"), ("NATS_KEY", "client.key")];
    worker(&dir, &url, &[], &variables).code(0);
    for words in [&own("stranger.pem", "stranger.key")[..], &["--tls-ca", "ca.pem"]] {
        let ran = worker(&dir, &url, words, &[]).code(4);
        ran.stderr_has("requires a different client certificate").stderr_has("--tls-cert");
    }
    worker(&dir, &url, &own("client.pem", "client.key")[..4], &[]).code(2);
    let ran = worker(&dir, &url, &own("client.pem", "server.csr"), &[]).code(4);
    ran.stderr_has("TLS failed to start");
}
