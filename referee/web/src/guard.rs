//! Access control: which requests are answered, and the security headers of every response. A page of
//! another site in the same browser must not read or do anything here, not even by DNS rebinding.

use super::access::{Access, Exchange, Key};
use super::course::UPLOAD_PATHS;
use super::errors::ApiError;
use super::places::Places;
use super::visitor::{Session, Visitor};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// The policy of the pages: they load files from this server only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";
/// How many requests may wait because of their keys, a quarter of the connections.
const WAITING_MAX: usize = 64;
/// A header that a form of another site can't send.
const OWN_HEADER: &str = "x-referee";

/// The access rules of a server.
#[derive(Debug)]
pub(super) struct Guard {
    /// The names of the server, without ports.
    hosts: Vec<String>,
    /// Whether it listens on all addresses: then any address is accepted, but no other name.
    any_address: bool,
    /// The secrets that visitors need, if any.
    access: Option<Arc<Access>>,
    /// A place for each request that waits because of its key, so that they leave connections to others.
    waiting: Arc<Places>,
    /// The cookie's name. It contains the port, since cookies are shared between ports.
    cookie: String,
    /// The address at a reverse proxy, if there is one.
    proxied: Option<ProxiedAddress>,
}

/// The address of a server at a reverse proxy on the same machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxiedAddress {
    /// `http` or `https`.
    scheme: String,
    /// The host, and the port if it isn't the scheme's.
    host: String,
}

impl ProxiedAddress {
    /// Reads an address such as `https://course.example.org`.
    pub fn read(text: &str) -> Result<Self, String> {
        let wrong = || "expected an address such as `https://course.example.org`, without a path";
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let (scheme, host) = uri.scheme_str().zip(uri.authority()).ok_or_else(wrong)?;
        let is_plain = uri.path_and_query().is_none_or(|path| path == "/");
        if !["http", "https"].contains(&scheme) || !is_plain || host.as_str().contains('@') {
            return Err(wrong().to_owned());
        }
        Ok(Self { scheme: scheme.to_owned(), host: host.as_str().to_ascii_lowercase() })
    }

    /// Whether browsers reach it through TLS.
    pub fn is_secure(&self) -> bool {
        self.scheme == "https"
    }

    /// Returns the address without a slash at its end.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.host)
    }
}

impl Guard {
    /// Creates the rules of a server for `host` that listens at this address and port.
    pub(super) fn new(
        host: &str,
        address: IpAddr,
        port: u16,
        access: Option<Arc<Access>>,
        proxied: Option<ProxiedAddress>,
    ) -> Self {
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).into();
        hosts.push(host.to_ascii_lowercase());
        hosts.push(bracketed(address));
        hosts.extend(proxied.as_ref().map(|proxied| without_port(&proxied.host).to_owned()));
        if address.is_unspecified()
            && let Ok(own) = nix::unistd::gethostname()
        {
            hosts.push(own.to_string_lossy().to_ascii_lowercase());
        }
        Self {
            hosts,
            any_address: address.is_unspecified(),
            access,
            waiting: Places::new(WAITING_MAX),
            cookie: format!("referee-{port}"),
            proxied,
        }
    }

    /// Returns who sends a request. Behind a proxy on this machine it is who the proxy names: its last entry, since
    /// those before are whatever the visitor sent.
    fn visitor(&self, from: Visitor, headers: &HeaderMap) -> Visitor {
        let forwarded = || {
            let line = headers.get_all("x-forwarded-for").iter().next_back()?.to_str().ok()?;
            let last = line.rsplit(',').next()?.trim();
            Some(Visitor::of(last.parse().ok()?))
        };
        let is_proxied = self.proxied.is_some() && from.is_this_machine();
        if is_proxied { forwarded().unwrap_or(from) } else { from }
    }

    /// Returns the origin of this server's own pages, as a request with this `Host` has them.
    fn origin(&self, host: &str) -> String {
        match &self.proxied {
            Some(proxied) if proxied.host == host => proxied.origin(),
            _ => format!("http://{host}"),
        }
    }

    /// Returns how long a request has to wait because of the key that it presents.
    fn pause(&self, from: Visitor, uri: &Uri) -> Duration {
        let access = self.access.as_ref().zip(split_key(uri));
        access.map_or(Duration::ZERO, |(access, (key, _))| access.pause(key, from))
    }

    /// Waits so long; returns the response if too many requests do.
    async fn wait(&self, from: Visitor, uri: &Uri) -> Result<(), Response> {
        let pause = self.pause(from, uri);
        if pause.is_zero() {
            return Ok(());
        }
        let place = self.waiting.enter(from);
        tokio::select! {
            () = tokio::time::sleep(pause) => Ok(()),
            () = place.lost() => {
                let text = "too many wrong tokens come from this address";
                let refused = ApiError::new(StatusCode::TOO_MANY_REQUESTS, text);
                Err(refused.help("open the address again in some seconds").page())
            }
        }
    }

    /// Accepts a request and returns its session, or the response that refuses it.
    fn check(
        &self,
        from: Visitor,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<Session, Box<Response>> {
        let refuse = |refused: ApiError| {
            let is_api = uri.path().starts_with("/api/");
            Box::new(if is_api { refused.into_response() } else { refused.page() })
        };
        let host = self.host(headers).map_err(refuse)?;
        let mut session = Session::default();
        if let Some(access) = &self.access {
            let known = self.sessions(headers).find(|it| access.has_session(it)).map(Session::of);
            let has_session = known.is_some();
            if *method == Method::GET
                && let Some((key, rest)) = split_key(uri)
            {
                // A reload of an address whose code has been used.
                if has_session {
                    return Err(Box::new(see_other(&rest).into_response()));
                }
                match access.exchange(key, from).map_err(|failure| refuse(failure.into()))? {
                    Exchange::Session(session) => {
                        return Err(Box::new(self.set_cookie(&session, &rest)));
                    }
                    Exchange::Wrong => {}
                }
            }
            session = known.unwrap_or_default();
            if !has_session {
                return Err(refuse(
                    ApiError::new(StatusCode::UNAUTHORIZED, "this browser has no access").help(
                        "open the last address that `referee serve` printed: each works once",
                    ),
                ));
            }
        }
        same_site(&self.origin(&host), method, uri, headers).map_err(refuse)?;
        Ok(session)
    }

    /// Returns the host of a request if it is one of the server's names: a foreign name that resolves to
    /// this machine is refused.
    fn host(&self, headers: &HeaderMap) -> Result<String, ApiError> {
        let mut named = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (named.next(), named.next()) else {
            return Err(ApiError::bad("a request needs exactly one Host header"));
        };
        let host = host.to_str().unwrap_or_default().to_ascii_lowercase();
        let name = without_port(&host);
        let is_address = || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        if self.hosts.iter().any(|own| own == name) || (self.any_address && is_address()) {
            return Ok(host);
        }
        let text = format!("{name:?} is not a name of this server");
        Err(ApiError::new(StatusCode::MISDIRECTED_REQUEST, text).help(
            "open the address that it printed, or start it for this name: `serve --host NAME`, \
             `contest open DIR --web --url https://NAME`",
        ))
    }

    /// Returns the values of this server's cookie.
    fn sessions<'a>(&'a self, headers: &'a HeaderMap) -> impl Iterator<Item = &'a str> {
        let lines = headers.get_all(header::COOKIE).iter();
        let pairs = lines.filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(';'));
        let pairs = pairs.filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(name, _)| *name == self.cookie).map(|(_, value)| value)
    }

    /// Sets the cookie and redirects to the address without the key.
    fn set_cookie(&self, session: &str, rest: &str) -> Response {
        let cookie = format!("{}={session}; HttpOnly; SameSite=Strict; Path=/", self.cookie);
        ([(header::SET_COOKIE, cookie)], see_other(rest)).into_response()
    }
}

fn see_other(rest: &str) -> impl IntoResponse + use<> {
    (StatusCode::SEE_OTHER, [(header::LOCATION, rest.to_owned())])
}

/// Refuses requests from other sites.
fn same_site(own: &str, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let forbidden = |text: &str| ApiError::new(StatusCode::FORBIDDEN, text);
    if let Some(origin) = text("origin")
        && origin.to_ascii_lowercase() != own
    {
        return Err(forbidden("requests from other sites are refused"));
    }
    if *method == Method::GET || *method == Method::HEAD {
        return Ok(());
    }
    if *method != Method::POST {
        return Err(ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "only GET and POST are allowed"));
    }
    let kind = text("content-type").unwrap_or_default();
    let is_upload = UPLOAD_PATHS.contains(&uri.path());
    let wanted = if is_upload { "multipart/form-data" } else { "application/json" };
    if kind.split(';').next().map(str::trim) != Some(wanted) {
        let text = format!("the body of this POST must be {wanted}");
        return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    // No browser adds `Authorization: Bearer` by itself.
    if text(OWN_HEADER).is_none() && text("authorization").is_none() {
        return Err(forbidden("a POST needs the header X-Referee: 1"));
    }
    Ok(())
}

/// Checks a request, and adds the security headers to every response.
pub(super) async fn guard(
    State(guard): State<Arc<Guard>>,
    from: Visitor,
    mut request: Request,
    next: Next,
) -> Response {
    let from = guard.visitor(from, request.headers());
    request.extensions_mut().insert(from);
    let checked = match guard.wait(from, request.uri()).await {
        Ok(()) => guard.check(from, request.method(), request.uri(), request.headers()),
        Err(response) => Err(Box::new(response)),
    };
    let mut response = match checked {
        Ok(session) => {
            request.extensions_mut().insert(session);
            next.run(request).await
        }
        Err(response) => *response,
    };
    let headers = response.headers_mut();
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

fn bracketed(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Splits an address into its key and the rest.
fn split_key(uri: &Uri) -> Option<(Key<'_>, String)> {
    let (mut key, mut rest) = (None, Vec::new());
    for pair in uri.query()?.split('&') {
        match pair.split_once('=') {
            Some(("code", given)) => key = Some(Key::Code(given)),
            Some(("token", given)) => key = Some(Key::Token(given)),
            _ => rest.push(pair),
        }
    }
    // An address that starts with two slashes would lead to another site.
    let path = format!("/{}", uri.path().trim_start_matches('/'));
    let rest = if rest.is_empty() { path } else { format!("{path}?{}", rest.join("&")) };
    Some((key?, rest))
}

#[cfg(test)]
mod tests {
    use super::{Guard, ProxiedAddress, WAITING_MAX, split_key, without_port};
    use crate::access::{Access, Exchange, Key, Visitors, WRONG_TOKENS_MAX};
    use crate::visitor::Visitor;
    use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
    use futures_util::FutureExt;
    use std::sync::Arc;

    fn status(guard: &Guard, uri: &str, headers: &[(&str, &str)]) -> u16 {
        let pairs = headers.iter().map(|(name, value)| {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            (name, HeaderValue::from_str(value).unwrap())
        });
        let headers: HeaderMap = pairs.collect();
        let uri: Uri = uri.parse().unwrap();
        let from = Visitor::of([10, 0, 0, 1].into());
        let checked = guard.check(from, &Method::GET, &uri, &headers);
        checked.map_or_else(|response| response.status().as_u16(), |_| 200)
    }

    #[test]
    fn only_the_server_s_names_are_accepted() {
        let here = Guard::new("127.0.0.1", [127, 0, 0, 1].into(), 80, None, None);
        let there = Guard::new("lab.example", [10, 0, 0, 7].into(), 80, None, None);
        let everywhere = Guard::new("0.0.0.0", [0, 0, 0, 0].into(), 80, None, None);
        for (host, expected) in [
            ("localhost:8017", [200, 200, 200]),
            ("[::1]:8017", [200, 200, 200]),
            ("LAB.example", [421, 200, 421]),
            ("10.0.0.7:80", [421, 200, 200]),
            ("evil.example", [421, 421, 421]),
            ("localhost.evil.example:80", [421, 421, 421]),
            ("10.0.0.7.evil.example", [421, 421, 421]),
            ("", [421, 421, 421]),
        ] {
            let found = [&here, &there, &everywhere].map(|it| status(it, "/", &[("host", host)]));
            assert_eq!(found, expected, "{host}");
        }
        assert_eq!(status(&here, "/", &[]), 400);
    }

    #[test]
    fn a_proxy_on_this_machine_is_believed() {
        let proxied = ProxiedAddress::read("https://Course.example.org").unwrap();
        assert!(proxied.is_secure() && proxied.origin() == "https://course.example.org");
        for wrong in ["course.example.org", "ftp://x", "https://x/y", "https://a@x", "https://"] {
            assert!(ProxiedAddress::read(wrong).is_err(), "{wrong}");
        }
        let with = |proxied| Guard::new("127.0.0.1", [127, 0, 0, 1].into(), 80, None, proxied);
        let (behind, alone) = (with(Some(proxied)), with(None));
        let public = ("host", "course.example.org");
        assert_eq!(status(&behind, "/", &[public]), 200);
        assert_eq!(status(&alone, "/", &[public]), 421);
        for (origin, expected) in [
            ("https://course.example.org", 200),
            ("http://course.example.org", 403),
            ("https://evil.example", 403),
        ] {
            assert_eq!(status(&behind, "/", &[public, ("origin", origin)]), expected, "{origin}");
        }
        let visitor = |guard: &Guard, from: [u8; 4], forwarded: &str| {
            let headers = [("x-forwarded-for", forwarded)].map(|(name, value)| {
                (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
            });
            guard.visitor(Visitor::of(from.into()), &headers.into_iter().collect())
        };
        let of = |address: [u8; 4]| Visitor::of(address.into());
        let here = [127, 0, 0, 1];
        assert_eq!(visitor(&behind, here, "6.6.6.6, 10.0.0.9"), of([10, 0, 0, 9]));
        assert_eq!(visitor(&behind, here, "nonsense"), of(here));
        assert_eq!(visitor(&behind, [10, 0, 0, 1], "10.0.0.9"), of([10, 0, 0, 1]));
        assert_eq!(visitor(&alone, here, "10.0.0.9"), of(here));
    }

    fn guarded(visitors: &Visitors) -> (Guard, Arc<Access>) {
        let access = Arc::new(Access::new(visitors).unwrap().unwrap());
        let guard = Guard::new("127.0.0.1", [127, 0, 0, 1].into(), 80, Some(access.clone()), None);
        (guard, access)
    }

    const HOST: (&str, &str) = ("host", "localhost");

    #[test]
    fn only_a_session_is_let_in() {
        let (guard, access) = guarded(&Visitors::WithCodeOrToken("secret-1".to_owned()));
        let from = Visitor::of([10, 0, 0, 1].into());
        let Exchange::Session(session) = access.exchange(Key::Token("secret-1"), from).unwrap()
        else {
            panic!("the token is right")
        };
        for (uri, cookie, expected) in [
            ("/", String::new(), 401),
            ("/?token=secret-2", String::new(), 401),
            ("/?token=secret-1", String::new(), 303),
            ("/", format!("referee-80={session}"), 200),
            ("/", format!("other=1; referee-80={session}"), 200),
            ("/?token=secret-2", format!("referee-80={session}"), 303),
            ("/", format!("referee-81={session}"), 401),
            ("/api/overview", "referee-80=secret-1".to_owned(), 401),
            ("/", "referee-80=".to_owned(), 401),
        ] {
            let found = status(&guard, uri, &[HOST, ("cookie", &cookie)]);
            assert_eq!(found, expected, "{uri} {cookie}");
        }
    }

    /// Behind a proxy all have the address of one who guesses.
    #[test]
    fn wrong_keys_lock_nobody_out() {
        let (guard, _) = guarded(&Visitors::WithCodeOrToken("secret-1".to_owned()));
        let from = Visitor::of([10, 0, 0, 1].into());
        let right: Uri = "/?token=secret-1".parse().unwrap();
        assert!(guard.pause(from, &right).is_zero());
        for number in 0..50 {
            assert_eq!(status(&guard, &format!("/?token=guess-{number}"), &[HOST]), 401);
        }
        assert!(!guard.pause(from, &right).is_zero());
        assert!(guard.pause(from, &"/".parse().unwrap()).is_zero());
        assert_eq!(status(&guard, "/?token=secret-1", &[HOST]), 303);
    }

    #[test]
    fn a_code_works_once_and_is_replaced() {
        let (guard, access) = guarded(&Visitors::WithCode);
        let codes = access.code();
        let first = format!("/?code={}", *codes.borrow());
        assert_eq!(status(&guard, "/?token=", &[HOST]), 401);
        assert_eq!(status(&guard, &first, &[HOST]), 303);
        assert_eq!(status(&guard, &first, &[HOST]), 401);
        assert!(codes.has_changed().unwrap());
        let second = format!("/?code={}", *codes.borrow());
        assert_ne!(first, second);
        assert_eq!(status(&guard, &second, &[HOST]), 303);
    }

    /// Many guesses of one address refuse none of another, although both have to wait.
    #[tokio::test]
    async fn whoever_guesses_the_most_is_refused() {
        let access = Access::new(&Visitors::WithCodeOrToken("secret".to_owned())).unwrap().unwrap();
        let [attacker, other] = [[10, 0, 0, 2], [10, 0, 0, 3]].map(|it| Visitor::of(it.into()));
        for from in [attacker, other] {
            for _ in 0..WRONG_TOKENS_MAX {
                access.exchange(Key::Token("wrong"), from).unwrap();
            }
        }
        let address = [127, 0, 0, 1].into();
        let guard = Guard::new("127.0.0.1", address, 80, Some(Arc::new(access)), None);
        let uri: Uri = "/?token=secret".parse().unwrap();
        let wait = |from| Box::pin(guard.wait(from, &uri));
        let mut honest = wait(other);
        assert!((&mut honest).now_or_never().is_none());
        let mut guesses: Vec<_> = (0..3 * WAITING_MAX).map(|_| wait(attacker)).collect();
        assert!(guesses.iter_mut().all(|guess| guess.now_or_never().is_none()));
        guesses.retain_mut(|guess| guess.now_or_never().is_none());
        assert_eq!(guesses.len(), WAITING_MAX - 1);
        assert!((&mut honest).now_or_never().is_none());
    }

    #[test]
    fn a_key_is_removed_from_the_address() {
        for (uri, key, rest) in [
            ("/?token=x", Key::Token("x"), "/"),
            ("/match?file=a%26b.jsonl&code=x", Key::Code("x"), "/match?file=a%26b.jsonl"),
            ("//evil.example/?token=x", Key::Token("x"), "/evil.example/"),
        ] {
            let uri = uri.parse().unwrap();
            assert_eq!(split_key(&uri), Some((key, rest.to_owned())), "{uri}");
        }
        assert_eq!(split_key(&"/?a=1".parse().unwrap()), None);
        assert_eq!(without_port("[::1]:80"), "[::1]");
    }
}
