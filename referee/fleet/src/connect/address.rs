//! Parses addresses of servers.

use async_nats::ServerAddr;
use referee_process::Failure;
use referee_protocol::sanitize::sanitize;

/// The help for a wrong address.
const HELP: &str = "write nats://HOST:PORT or tls://HOST:PORT; separate several with commas";

/// The servers in an address.
#[derive(Clone)]
pub(super) struct Addresses {
    /// Their addresses, without secrets.
    pub(super) servers: Vec<ServerAddr>,
    /// A user with a password, or a token.
    pub(super) user: Option<(String, Option<String>)>,
}

impl Addresses {
    /// Parses an address. Errors contain neither user nor password.
    pub(super) fn read(text: &str) -> Result<Self, Failure> {
        let mut read = Self { servers: Vec::new(), user: None };
        let all: Vec<_> = text.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
        if all.iter().skip(1).any(|one| one.contains('@') && !one.contains("://")) {
            // The text before the comma may be the beginning of a password.
            let what = "a `,` separates server addresses, and an address with a user needs nats:// or tls://";
            return Err(Failure::usage(what).help("write `,` as %2C in a user or a password"));
        }
        for (number, one) in all.iter().enumerate() {
            let (scheme, rest) = one.split_once("://").unwrap_or(("nats", *one));
            let (user, host) = match rest.rsplit_once('@') {
                Some((user, host)) => (Some(user), host),
                None => (None, rest),
            };
            let is_secret = user.is_none() && all[number..].iter().any(|one| one.contains('@'));
            let shown = if is_secret { "server address".to_owned() } else { sanitize(host) };
            let wrong = |what: String| Failure::usage(format!("{shown}: {what}")).help(HELP);
            if !["nats", "tls"].contains(&scheme) {
                return Err(wrong("the address must begin with nats:// or tls://".to_owned()));
            }
            if host.is_empty() {
                return Err(Failure::usage("the server address has no host").help(HELP));
            }
            let server = format!("{scheme}://{}", host.trim_end_matches('/'));
            let server = server.parse::<ServerAddr>().map_err(|error| wrong(error.to_string()))?;
            read.servers.push(server);
            if read.user.is_none() {
                read.user = user
                    .map(user_of)
                    .transpose()
                    .map_err(|()| wrong("invalid `%` escape in the user or password".to_owned()))?;
            }
        }
        if read.servers.is_empty() {
            return Err(Failure::usage("missing server address").help(HELP));
        }
        Ok(read)
    }

    /// Returns the addresses without secrets.
    pub(super) fn display_url(&self) -> String {
        let servers = self.servers.iter().map(|server| sanitize(server.as_url_str()));
        servers.collect::<Vec<_>>().join(",")
    }
}

/// Parses `USER:PASSWORD` or a token.
fn user_of(text: &str) -> Result<(String, Option<String>), ()> {
    let (user, password) = match text.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (text, None),
    };
    Ok((decoded(user)?, password.map(decoded).transpose()?))
}

/// Decodes `%40` and the like.
fn decoded(text: &str) -> Result<String, ()> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let digits = part.get(..2).filter(|it| it.bytes().all(|it| it.is_ascii_hexdigit()));
        bytes.push(u8::from_str_radix(digits.ok_or(())?, 16).map_err(drop)?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).map_err(drop)
}

#[cfg(test)]
mod tests {
    use super::Addresses;

    #[test]
    fn addresses_are_parsed_and_displayed_without_secrets() {
        for (text, shown, user, password) in [
            ("localhost", "nats://localhost", None, None),
            ("nats://10.0.0.7:4333/", "nats://10.0.0.7:4333", None, None),
            ("tls://a.example, tls://b.example", "tls://a.example,tls://b.example", None, None),
            ("nats://me:s3cret@h", "nats://h", Some("me"), Some("s3cret")),
            ("nats://t0ken@h,nats://i", "nats://h,nats://i", Some("t0ken"), None),
            ("nats://a%40b:p%3Aq%2f@h", "nats://h", Some("a@b"), Some("p:q/")),
            ("nats://me:p%2Cq@h", "nats://h", Some("me"), Some("p,q")),
            ("nats://g,nats://t0ken@h", "nats://g,nats://h", Some("t0ken"), None),
            ("nats://me:p@ss@h:1", "nats://h:1", Some("me"), Some("p@ss")),
            ("nats://[::1]:4222", "nats://[::1]:4222", None, None),
        ] {
            let read = Addresses::read(text).unwrap();
            assert_eq!(read.display_url(), shown, "{text}");
            let found = read.user.as_ref().map(|(user, word)| (user.as_str(), word.as_deref()));
            assert_eq!(found, user.map(|user| (user, password)), "{text}");
        }
    }

    #[test]
    fn errors_contain_no_secrets() {
        for text in [
            "",
            " , ",
            "http://me:s3cret@h",
            "nats://me:s3cret@",
            "nats://me:s3cret@h:port",
            "nats://s3cret%zz@h",
            "nats://s3cret%f@h",
            "nats://me:s3cret,tls://x@h",
            "http://s3cret,tls://x@h",
        ] {
            let Err(failure) = Addresses::read(text) else { panic!("{text}") };
            assert!(!failure.to_string().contains("s3cret"), "{failure}");
            assert!(failure.help_text().unwrap().contains("tls://HOST:PORT"));
        }
        for text in ["nats://me:s3,cret@h", "me:12,s3@h", "nats://me:p@s3,s3@h", "me:s3,s3,@h"] {
            let Err(failure) = Addresses::read(text) else { panic!("{text}") };
            assert!(!failure.to_string().contains("s3") && !failure.to_string().contains("12"));
            assert!(failure.help_text().unwrap().contains("%2C"), "{text}");
        }
    }
}
