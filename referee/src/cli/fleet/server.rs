//! The options of all commands that connect to a NATS server.

use crate::cli::shell::option;
use clap::Args;
use referee_fleet::connect::Server;
use std::path::PathBuf;

/// Credentials and TLS.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ServerOptions {
    /// User; set the password in `NATS_PASSWORD`, or a token in `NATS_TOKEN`. Both may also be given
    /// before the host in the URL, where other users of this machine can see them
    #[arg(long, value_name = "USER", env = "NATS_USER", hide_env_values = true)]
    user: Option<String>,
    /// Credentials file, as created by `nsc generate creds`
    #[arg(long, value_name = "FILE", env = "NATS_CREDS", hide_env_values = true)]
    creds: Option<PathBuf>,
    /// File with the seed of an nkey
    #[arg(long, value_name = "FILE", env = "NATS_NKEY", hide_env_values = true)]
    nkey: Option<PathBuf>,
    /// PEM file of certificate authorities to trust. Defaults to the system's
    #[arg(long, value_name = "FILE", env = "NATS_CA", hide_env_values = true)]
    tls_ca: Option<PathBuf>,
    /// Client certificate, if the server requires one
    #[arg(long, value_name = "FILE", env = "NATS_CERT", hide_env_values = true)]
    #[arg(requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key of --tls-cert
    #[arg(long, value_name = "FILE", env = "NATS_KEY", hide_env_values = true)]
    #[arg(requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

impl ServerOptions {
    /// Returns the arguments for connecting to this server again, without secrets.
    pub(crate) fn resume_args(&self, shown: &str) -> Vec<String> {
        let file = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let options = [
            ("--on", Some(shown.to_owned())),
            ("--user", self.user.clone()),
            ("--creds", file(&self.creds)),
            ("--nkey", file(&self.nkey)),
            ("--tls-ca", file(&self.tls_ca)),
            ("--tls-cert", file(&self.tls_cert)),
            ("--tls-key", file(&self.tls_key)),
        ];
        options.into_iter().flat_map(|(name, value)| option(name, value)).collect()
    }

    /// Returns the server at this address with these options.
    pub(crate) fn server(&self, url: &str) -> Server {
        let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let password = variable("NATS_PASSWORD");
        let (user, bare) = match (self.user.clone(), password) {
            (Some(user), Some(password)) => (Some((user, password)), None),
            // Like the NATS command line: a user without a password is a token.
            (user, _) => (None, user),
        };
        Server {
            url: url.to_owned(),
            user,
            token: variable("NATS_TOKEN").or(bare),
            creds: self.creds.clone(),
            nkey: self.nkey.clone(),
            tls_ca: self.tls_ca.clone(),
            tls_own: self.tls_cert.clone().zip(self.tls_key.clone()),
        }
    }
}
