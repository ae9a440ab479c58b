//! The options of every command that talks to a NATS server.

use crate::cli::words::option;
use clap::Args;
use referee_fleet::connect::Server;
use std::path::PathBuf;

/// Who asks, and how the connection is kept safe.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "The server")]
pub(crate) struct ServerOptions {
    /// The user, with the password in `NATS_PASSWORD`; a token is in `NATS_TOKEN`. Either may stand
    /// before the host in the URL, too, where others of this machine see it
    #[arg(long, value_name = "USER", env = "NATS_USER", hide_env_values = true)]
    user: Option<String>,
    /// A file with credentials, as `nsc` makes them
    #[arg(long, value_name = "FILE", env = "NATS_CREDS", hide_env_values = true)]
    creds: Option<PathBuf>,
    /// A file with the seed of an nkey
    #[arg(long, value_name = "FILE", env = "NATS_NKEY", hide_env_values = true)]
    nkey: Option<PathBuf>,
    /// Certificates of those who vouch for the server, instead of the system's
    #[arg(long, value_name = "FILE", env = "NATS_CA", hide_env_values = true)]
    tls_ca: Option<PathBuf>,
    /// A certificate of your own, where the server asks for one
    #[arg(long, value_name = "FILE", env = "NATS_CERT", hide_env_values = true)]
    #[arg(requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Its key
    #[arg(long, value_name = "FILE", env = "NATS_KEY", hide_env_values = true)]
    #[arg(requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

impl ServerOptions {
    /// What a command has to say to come to this server again, without what is secret.
    pub(crate) fn words(&self, shown: &str) -> Vec<String> {
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

    /// The server at this address, asked as the options say.
    pub(crate) fn server(&self, url: &str) -> Server {
        let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let password = variable("NATS_PASSWORD");
        let (user, bare) = match (self.user.clone(), password) {
            (Some(user), Some(password)) => (Some((user, password)), None),
            // As the command line of NATS takes it.
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
