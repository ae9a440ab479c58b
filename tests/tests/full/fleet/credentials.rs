//! Keys, certificates and signed claims, generated for each test.

use crate::support::{TestDir, skip};
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

/// Generates an operator with one account and one user; returns the server's configuration and the
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

/// Returns a signed claim of `by` about `of`.
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

/// Certificates and keys in a test's folder: `ca`, `here`, `elsewhere`, `client`, and the self-signed
/// `stranger`.
pub(crate) struct Certificates<'a> {
    dir: &'a TestDir,
}

impl<'a> Certificates<'a> {
    /// Generates the certificates. Without openssl, reports a skipped test and returns `None`.
    pub(crate) fn make(dir: &'a TestDir) -> Option<Self> {
        if Command::new("openssl").arg("version").output().is_err() {
            skip("openssl");
            return None;
        }
        let made = Self { dir };
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

    /// Returns the TLS configuration of a server; `asks` requires client certificates.
    pub(crate) fn server(&self, name: &str, asks: bool) -> String {
        let path = |file: String| self.dir.path(&file).display().to_string();
        let [certificate, key] = ["pem", "key"].map(|ending| path(format!("{name}.{ending}")));
        let ca = path("ca.pem".to_owned());
        let asks = if asks { format!("ca_file: \"{ca}\", verify: true") } else { String::new() };
        // A handshake may be slow on a busy machine.
        format!("tls {{ cert_file: \"{certificate}\", key_file: \"{key}\", timeout: 60, {asks} }}")
    }

    fn sign(&self, name: &str, names: &str) {
        self.dir.write(&format!("{name}.ext"), format!("subjectAltName={names}\n"));
        self.openssl(&format!("req {KEY} -keyout {name}.key -out server.csr -subj /CN={name}"));
        self.openssl(&format!(
            "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out {name}.pem \
             -days 30 -extfile {name}.ext"
        ));
    }

    fn openssl(&self, words: &str) {
        let mut command = Command::new("openssl");
        command.args(words.split_whitespace()).current_dir(self.dir.path("."));
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{words}: {output:?}");
    }
}

/// Options for a new key that is generated quickly.
const KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
