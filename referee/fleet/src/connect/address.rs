//! Where servers are, as people write it.

use async_nats::ServerAddr;
use referee_process::Failure;
use referee_protocol::plain::tame;

/// What helps where no server is meant.
const HELP: &str = "write nats://HOST:PORT, or tls://HOST:PORT, several with commas between them";

/// The servers that an address names.
#[derive(Clone)]
pub(super) struct Addresses {
    /// Without anything that is secret.
    pub(super) servers: Vec<ServerAddr>,
    /// Who asks, with a password; a token where there is none.
    pub(super) user: Option<(String, Option<String>)>,
}

impl Addresses {
    /// Reads an address. What is wrong with it is told without showing a user or a password.
    pub(super) fn read(text: &str) -> Result<Self, Failure> {
        let mut read = Self { servers: Vec::new(), user: None };
        let all: Vec<_> = text.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
        if all.iter().skip(1).any(|one| one.contains('@') && !one.contains("://")) {
            // What is before the comma may be a password's begin.
            let what = "a `,` begins the address of another server, with nats:// or tls:// before its user";
            return Err(Failure::usage(what).help("in a user or a password, write %2C for `,`"));
        }
        for (number, one) in all.iter().enumerate() {
            let (scheme, rest) = one.split_once("://").unwrap_or(("nats", *one));
            let (user, host) = match rest.rsplit_once('@') {
                Some((user, host)) => (Some(user), host),
                None => (None, rest),
            };
            let is_secret = user.is_none() && all[number..].iter().any(|one| one.contains('@'));
            let shown = if is_secret { "the address of a server".to_owned() } else { tame(host) };
            let wrong = |what: String| Failure::usage(format!("{shown}: {what}")).help(HELP);
            if !["nats", "tls"].contains(&scheme) {
                return Err(wrong("only nats:// and tls:// lead to a server".to_owned()));
            }
            if host.is_empty() {
                return Err(Failure::usage("the address of a server needs a host").help(HELP));
            }
            let server = format!("{scheme}://{}", host.trim_end_matches('/'));
            let server = server.parse::<ServerAddr>().map_err(|error| wrong(error.to_string()))?;
            read.servers.push(server);
            if read.user.is_none() {
                read.user = user
                    .map(user_of)
                    .transpose()
                    .map_err(|()| wrong("the user's `%` stands for no character".to_owned()))?;
            }
        }
        if read.servers.is_empty() {
            return Err(Failure::usage("the address of a server is missing").help(HELP));
        }
        Ok(read)
    }

    /// As it may be shown.
    pub(super) fn shown(&self) -> String {
        let servers = self.servers.iter().map(|server| tame(server.as_url_str()));
        servers.collect::<Vec<_>>().join(",")
    }
}

/// `USER:PASSWORD`, or a token.
fn user_of(text: &str) -> Result<(String, Option<String>), ()> {
    let (user, password) = match text.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (text, None),
    };
    Ok((decoded(user)?, password.map(decoded).transpose()?))
}

/// What `%40` and the like stand for.
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
    fn addresses_are_read_and_shown_without_secrets() {
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
            assert_eq!(read.shown(), shown, "{text}");
            let found = read.user.as_ref().map(|(user, word)| (user.as_str(), word.as_deref()));
            assert_eq!(found, user.map(|user| (user, password)), "{text}");
        }
    }

    #[test]
    fn mistakes_are_told_without_secrets() {
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
