//! Certificates, generated for each test.

use crate::support::{TestDir, skip};
use std::process::{Command, Stdio};

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
