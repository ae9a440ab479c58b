//! Who is let in by a server, how the connection is kept safe, and what is said when it fails.

use super::people::Member;
use super::server::Server;
use super::signed::{self, Certificates, Pair};
use crate::support::{Place, Ran};

/// What nobody may ever see.
const SECRET: &str = "s3cret";

/// A worker that has nothing to do, with these words and variables.
fn worker(place: &Place, url: &str, words: &[&str], variables: &[(&str, &str)]) -> Ran {
    let idle = ["worker", url, "--idle", "100ms", "--slots", "1", "--name", "w"];
    let words = [&idle, words].concat();
    let ran = place.run_with(&words, |it| it.envs(variables.iter().copied()));
    assert!(!ran.stderr.contains(SECRET) && !ran.stdout.contains(SECRET), "{ran:?}");
    // Whoever has nothing to do has seen that.
    assert!(!ran.stderr.contains("can't be reached; left"), "{ran:?}");
    ran
}

/// The server's address with something before the host.
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
    let place = Place::new();
    worker(&place, &with(&server, &format!("u:{SECRET}")), &[], &[]).code(0);
    let variables = [("NATS_USER", "u"), ("NATS_PASSWORD", SECRET)];
    worker(&place, &server.url(), &[], &variables).code(0);
    worker(&place, &server.url(), &["--user", "u"], &variables[1..]).code(0);
    let encoded = format!("u:%73{}", &SECRET[1..]);
    worker(&place, &with(&server, &encoded), &[], &[("NATS_TOKEN", "other")]).code(0);
    for url in &[with(&server, &format!("v:{SECRET}")), server.url(), with(&server, SECRET)] {
        let ran = worker(&place, url, &[], &[]).code(4);
        let told = format!("{}: the server doesn't let in this user", server.url());
        ran.complains(&told).complains("NATS_PASSWORD");
    }
    worker(&place, &with(&server, "v:v"), &[], &[])
        .code(4)
        .complains("JetStream can't be used: Permissions Violation for Publish")
        .complains("docs/many-machines.md");
    // The server doesn't speak TLS.
    let url = with(&server, &format!("u:{SECRET}")).replace("nats://", "tls://");
    worker(&place, &url, &[], &[]).code(4).complains("the server doesn't speak TLS");
    let wrong = format!("http://u:{SECRET}@127.0.0.1");
    worker(&place, &wrong, &[], &[]).code(2).complains("tls://HOST:PORT");
}

#[test]
fn who_is_not_let_in_any_more_is_told_so() {
    let users = |password: &str| format!("authorization {{ user: u, password: \"{password}\" }}");
    let Some(mut server) = Server::start_with(&users(SECRET)) else { return };
    let place = Place::new();
    place.write("c.toml", "agents = [\"@random\", \"@first\"]\ngame = \"hex\"\n");
    let url = with(&server, &format!("u:{SECRET}"));
    let coordinator = Member::coordinator(&place, &["run", "c.toml", "--out", "there"], &url);
    coordinator.running().complained("no worker is there yet");
    server.kill();
    let shown = server.url();
    coordinator.running().complained(&format!("the connection to {shown} is lost; trying on"));
    server.restart_with(&users("other"));
    let told = format!("{shown}: the server doesn't let in this user any more");
    coordinator.running().complained(&told);
    server.kill();
    server.restart_with(&users(SECRET));
    coordinator.running().complained(&format!("the connection to {shown} is there again"));
    let ran = coordinator.kill();
    assert!(!ran.stderr.contains(SECRET) && !ran.stdout.contains(SECRET), "{ran:?}");
    assert_eq!(ran.stderr.matches(&told).count(), 1, "{ran:?}");
}

#[test]
fn tokens() {
    let token = format!("authorization {{ token: \"{SECRET}\" }}");
    let Some(server) = Server::start_with(&token) else { return };
    let place = Place::new();
    worker(&place, &with(&server, SECRET), &[], &[]).code(0);
    worker(&place, &server.url(), &[], &[("NATS_TOKEN", SECRET)]).code(0);
    worker(&place, &server.url(), &[], &[("NATS_USER", SECRET)]).code(0);
    let ran = worker(&place, &server.url(), &[], &[("NATS_TOKEN", "other")]).code(4);
    ran.complains("doesn't let in");
}

#[test]
fn keys() {
    let pair = Pair::user();
    let keys = format!("authorization {{ users: [ {{ nkey: {} }} ] }}", pair.public);
    let Some(server) = Server::start_with(&keys) else { return };
    let place = Place::new();
    let right = place.write("right.nk", format!("{}\n", pair.seed));
    let other = place.write("other.nk", Pair::user().seed);
    let empty = place.write("empty.nk", SECRET);
    worker(&place, &server.url(), &["--nkey", &right], &[]).code(0);
    worker(&place, &server.url(), &[], &[("NATS_NKEY", &right)]).code(0);
    worker(&place, &server.url(), &["--nkey", &other], &[]).code(4).complains("doesn't let in");
    let ran = worker(&place, &server.url(), &["--nkey", &empty], &[]).code(2);
    ran.complains("no seed of a user's nkey is in it");
    worker(&place, &server.url(), &["--nkey", "gone.nk"], &[]).code(2).complains("gone.nk");
}

#[test]
fn credentials() {
    let (configuration, creds) = signed::operator();
    let Some(server) = Server::start_with(&configuration) else { return };
    let place = Place::new();
    let right = place.write("right.creds", &creds);
    let (_, creds) = signed::operator();
    let other = place.write("other.creds", &creds);
    let empty = place.write("empty.creds", SECRET);
    worker(&place, &server.url(), &["--creds", &right], &[]).code(0);
    worker(&place, &server.url(), &[], &[("NATS_CREDS", &right)]).code(0);
    worker(&place, &server.url(), &["--creds", &other], &[]).code(4).complains("doesn't let in");
    let ran = worker(&place, &server.url(), &["--creds", &empty], &[]).code(2);
    ran.complains("no credentials are in it");
}

#[test]
fn servers_that_do_not_serve() {
    let Some(server) = Server::start_with("jetstream: false") else { return };
    let place = Place::new();
    let ran = worker(&place, &server.url(), &[], &[]).code(4);
    ran.complains("it runs without JetStream").complains("`-js`");
    let accounts = "accounts { A: { users: [ { user: a, password: a } ] } }";
    let Some(server) = Server::start_with(accounts) else { return };
    let ran = worker(&place, &with(&server, "a:a"), &[], &[]).code(4);
    ran.complains("can't use JetStream").complains("jetstream: enabled");
}

#[test]
fn servers_that_are_told_by_their_certificates() {
    let place = Place::new();
    let Some(certificates) = Certificates::make(&place) else { return };
    let Some(server) = Server::start_with(&certificates.server("here", false)) else { return };
    let url = server.url().replace("nats://", "tls://");
    let [ca, other] = ["ca.pem", "stranger.pem"];
    worker(&place, &url, &["--tls-ca", ca], &[]).code(0);
    worker(&place, &url, &[], &[("NATS_CA", ca)]).code(0);
    // The server asks for it, whatever the address says.
    worker(&place, &server.url(), &["--tls-ca", ca], &[]).code(0);
    for url in [&url, &server.url()] {
        let ran = worker(&place, url, &[], &[]).code(4);
        ran.complains("nobody whom this machine trusts").complains("--tls-ca FILE");
    }
    let ran = worker(&place, &url, &["--tls-ca", other], &[]).code(4);
    ran.complains("--tls-ca names another authority");
    worker(&place, &url, &["--tls-ca", "gone.pem"], &[]).code(2).complains("gone.pem");
    place.write("empty.pem", "");
    let ran = worker(&place, &url, &["--tls-ca", "empty.pem"], &[]).code(2);
    ran.complains("empty.pem: no certificate is in it");
    let Some(server) = Server::start_with(&certificates.server("elsewhere", false)) else { return };
    let url = server.url().replace("nats://", "tls://");
    let ran = worker(&place, &url, &["--tls-ca", ca], &[]).code(4);
    ran.complains("the server's certificate is for another name");
}

#[test]
fn servers_that_ask_for_certificates() {
    let place = Place::new();
    let Some(certificates) = Certificates::make(&place) else { return };
    let Some(server) = Server::start_with(&certificates.server("here", true)) else { return };
    let url = server.url();
    let own = |certificate: &'static str, key: &'static str| {
        ["--tls-ca", "ca.pem", "--tls-cert", certificate, "--tls-key", key]
    };
    worker(&place, &url, &own("client.pem", "client.key"), &[]).code(0);
    let variables =
        [("NATS_CA", "ca.pem"), ("NATS_CERT", "client.pem"), ("NATS_KEY", "client.key")];
    worker(&place, &url, &[], &variables).code(0);
    for words in [&own("stranger.pem", "stranger.key")[..], &["--tls-ca", "ca.pem"]] {
        let ran = worker(&place, &url, words, &[]).code(4);
        ran.complains("doesn't take this certificate, or none").complains("--tls-cert");
    }
    worker(&place, &url, &own("client.pem", "client.key")[..4], &[]).code(2);
    let ran = worker(&place, &url, &own("client.pem", "server.csr"), &[]).code(4);
    ran.complains("TLS can't be begun");
}
