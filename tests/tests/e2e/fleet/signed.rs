//! Keys, certificates and signed claims, made anew for each test.

use crate::support::{Place, skip};
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use nkeys::KeyPair;
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// A user's nkey.
pub(crate) struct Pair {
    pub(crate) public: String,
    pub(crate) seed: String,
}

impl Pair {
    pub(crate) fn user() -> Self {
        let pair = KeyPair::new_user();
        Self { public: pair.public_key(), seed: pair.seed().unwrap() }
    }
}

/// A new operator with one account and one user: what a server's configuration says of it, and the
/// user's credentials.
pub(crate) fn operator() -> (String, String) {
    let [operator, system, account] =
        [KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_account()];
    let user = KeyPair::new_user();
    let limits = json!({
        "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
        "conn": -1, "leaf": -1, "mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1
    });
    let of_account = json!({ "type": "account", "version": 2, "limits": limits });
    let of_system = json!({
        "type": "account", "version": 2,
        "limits": { "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1,
                    "wildcards": true, "conn": -1, "leaf": -1 }
    });
    let of_user = json!({
        "type": "user", "version": 2, "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1
    });
    let of_operator = json!({ "type": "operator", "version": 2 });
    let configuration = format!(
        "operator: {}\nsystem_account: {}\nresolver: MEMORY\n\
         resolver_preload: {{ {}: {}\n{}: {} }}",
        claim(&operator, &operator, &of_operator),
        system.public_key(),
        system.public_key(),
        claim(&operator, &system, &of_system),
        account.public_key(),
        claim(&operator, &account, &of_account),
    );
    let creds = format!(
        "-----BEGIN NATS USER JWT-----\n{}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
        claim(&account, &user, &of_user),
        user.seed().unwrap()
    );
    (configuration, creds)
}

/// What one says of another, signed.
fn claim(by: &KeyPair, of: &KeyPair, what: &Value) -> String {
    let header = json!({ "typ": "JWT", "alg": "ed25519-nkey" });
    let claims = json!({
        "jti": of.public_key(), "iat": 1_700_000_000, "iss": by.public_key(),
        "name": "test", "sub": of.public_key(), "nats": what
    });
    let said =
        [&header, &claims].map(|part| BASE64_URL_SAFE_NO_PAD.encode(part.to_string())).join(".");
    let signature = by.sign(said.as_bytes()).unwrap();
    format!("{said}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
}

/// Certificates in a test's folder: those of `ca`, `here`, `elsewhere`, `client`, and of
/// `stranger`, whom nobody vouches for; each with its key.
pub(crate) struct Certificates<'a> {
    place: &'a Place,
}

impl<'a> Certificates<'a> {
    /// `None`, and a line that says so, where there is no openssl and the tests that need it may be
    /// left out.
    pub(crate) fn make(place: &'a Place) -> Option<Self> {
        if Command::new("openssl").arg("version").output().is_err() {
            skip("openssl");
            return None;
        }
        let made = Self { place };
        for name in ["ca", "stranger"] {
            made.openssl(&format!(
                "req -x509 {KEY} -keyout {name}.key -out {name}.pem -subj /CN={name} -days 30"
            ));
        }
        made.sign("here", "IP:127.0.0.1,DNS:localhost");
        made.sign("elsewhere", "DNS:elsewhere.example");
        made.sign("client", "DNS:client");
        Some(made)
    }

    /// What a server's configuration says of a certificate, and whether it asks others for theirs.
    pub(crate) fn server(&self, name: &str, asks: bool) -> String {
        let path = |file: String| self.place.path(&file).display().to_string();
        let [certificate, key] = ["pem", "key"].map(|ending| path(format!("{name}.{ending}")));
        let ca = path("ca.pem".to_owned());
        let asks = if asks { format!("ca_file: \"{ca}\", verify: true") } else { String::new() };
        // On a busy machine a handshake takes its time.
        format!("tls {{ cert_file: \"{certificate}\", key_file: \"{key}\", timeout: 60, {asks} }}")
    }

    fn sign(&self, name: &str, names: &str) {
        self.place.write(&format!("{name}.ext"), format!("subjectAltName={names}\n"));
        self.openssl(&format!("req {KEY} -keyout {name}.key -out server.csr -subj /CN={name}"));
        self.openssl(&format!(
            "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out {name}.pem \
             -days 30 -extfile {name}.ext"
        ));
    }

    fn openssl(&self, words: &str) {
        let mut command = Command::new("openssl");
        command.args(words.split_whitespace()).current_dir(self.place.path("."));
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{words}: {output:?}");
    }
}

/// A key of its own for each, which is made quickly.
const KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
