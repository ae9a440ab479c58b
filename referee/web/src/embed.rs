//! `/embed`: a match for frames in pages of other sites, as the file that [`export`](super::export()) makes:
//! it loads nothing more. Its address has a key for this match alone, since frames send no cookies.

use super::App;
use super::errors::{ApiError, ApiResult, run_blocking};
use super::export::{export, policy};
use super::pages::FileQuery;
use super::tail::Tail;
use axum::extract::{Query, State};
use axum::http::Uri;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use rand::TryRng;
use rand::rngs::SysRng;
use referee_process::Failure;
use referee_protocol::plain::{percent_encode, to_hex};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::str::FromStr;
use std::sync::Arc;

/// The path of embedded matches.
pub(super) const PATH: &str = "/embed";
/// The length of a key in bytes.
const KEY_BYTES: usize = 16;

/// A site whose pages may show matches, such as `https://course.example`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

impl FromStr for Origin {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim_end_matches('/').to_ascii_lowercase();
        let (scheme, host) = text.split_once("://").unwrap_or_default();
        // It becomes part of a header.
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
        let fits =
            ["http", "https"].contains(&scheme) && !host.is_empty() && host.bytes().all(plain);
        fits.then_some(Self(text))
            .ok_or("expected a scheme and a host, such as https://course.example")
    }
}

/// The sites that may show matches, and the secret from which keys are derived.
#[derive(Debug)]
pub(super) struct Embedding {
    origins: Vec<Origin>,
    secret: [u8; 32],
}

/// The parameters of an embedded match.
#[derive(Debug, Deserialize)]
struct EmbedQuery {
    file: String,
    #[serde(default)]
    key: String,
}

impl Embedding {
    /// Returns `None` without sites. With a token, addresses stay valid when the server starts again.
    pub(super) fn new(origins: Vec<Origin>, token: Option<&str>) -> Result<Option<Self>, Failure> {
        if origins.is_empty() {
            return Ok(None);
        }
        let mut secret = [0; 32];
        match token {
            Some(token) => secret = Sha256::digest(format!("embed {token}")).into(),
            None => SysRng.try_fill_bytes(&mut secret).map_err(|error| {
                Failure::machine(format!("cannot get random bytes from the system: {error}"))
            })?,
        }
        Ok(Some(Self { origins, secret }))
    }

    fn key(&self, file: &str) -> String {
        let file: [u8; 32] = Sha256::digest(file).into();
        to_hex(&Sha256::digest([self.secret, file].concat())[..KEY_BYTES])
    }

    /// Whether this is the address of an embedded match, with its key.
    pub(super) fn admits(&self, uri: &Uri) -> bool {
        let query = Query::<EmbedQuery>::try_from_uri(uri);
        uri.path() == PATH && query.is_ok_and(|Query(query)| query.key == self.key(&query.file))
    }

    fn policy(&self) -> String {
        let origins: Vec<&str> = self.origins.iter().map(|origin| origin.0.as_str()).collect();
        format!("{}; frame-ancestors {}", policy(), origins.join(" "))
    }
}

fn embedding(app: &App) -> ApiResult<&Embedding> {
    app.embedding.as_deref().ok_or_else(|| {
        ApiError::missing("this server embeds no matches")
            .help("start it with `referee serve --embed ORIGIN`")
    })
}

/// Returns the address of an embedded match.
pub(super) fn address(app: &App, query: &FileQuery) -> ApiResult<Value> {
    let key = embedding(app)?.key(&query.file);
    app.served.transcript(&query.file)?;
    Ok(json!({ "address": format!("{PATH}?file={}&key={key}", percent_encode(&query.file)) }))
}

/// Serves an embedded match, as far as it has been played.
pub(super) async fn page(
    State(app): State<Arc<App>>,
    Query(query): Query<FileQuery>,
) -> ApiResult<Response> {
    let policy = embedding(&app)?.policy();
    let page =
        run_blocking(move || Ok(export(&Tail::read(&query.file, &app.served)?.match_page(false)?)));
    let headers = [
        (header::CONTENT_SECURITY_POLICY.as_str(), policy.as_str()),
        ("cross-origin-resource-policy", "cross-origin"),
    ];
    Ok((headers, Html(page.await?)).into_response())
}

#[cfg(test)]
mod tests {
    use super::{Embedding, Origin};

    #[test]
    fn an_origin_is_a_scheme_and_a_host() {
        for (text, expected) in [
            ("https://Course.example", Some("https://course.example")),
            ("http://localhost:4000/", Some("http://localhost:4000")),
            ("http://[::1]:80", Some("http://[::1]:80")),
            ("course.example", None),
            ("ftp://course.example", None),
            ("https://", None),
            ("https://a b", None),
            ("https://a; script-src *", None),
            ("https://a/path", None),
            ("*", None),
        ] {
            let origin = text.parse::<Origin>().ok();
            assert_eq!(origin.as_ref().map(|origin| origin.0.as_str()), expected, "{text}");
        }
    }

    #[test]
    fn a_key_opens_one_match() {
        let origins = || vec!["https://course.example".parse().unwrap()];
        let embedding = Embedding::new(origins(), Some("secret-1")).unwrap().unwrap();
        let key = embedding.key("a&b.jsonl");
        let admits = |uri: String| embedding.admits(&uri.parse().unwrap());
        assert!(admits(format!("/embed?file=a%26b.jsonl&key={key}")));
        for uri in [
            format!("/embed?file=c.jsonl&key={key}"),
            format!("/match?file=a%26b.jsonl&key={key}"),
            "/embed?file=a%26b.jsonl&key=".to_owned(),
            "/embed?file=a%26b.jsonl".to_owned(),
            "/embed".to_owned(),
        ] {
            assert!(!admits(uri.clone()), "{uri}");
        }
        let again = Embedding::new(origins(), Some("secret-1")).unwrap().unwrap();
        let other = Embedding::new(origins(), None).unwrap().unwrap();
        assert_eq!((again.key("x"), other.key("x") == key), (embedding.key("x"), false));
        assert!(Embedding::new(Vec::new(), None).unwrap().is_none());
        let policy = embedding.policy();
        assert!(policy.ends_with("; frame-ancestors https://course.example"), "{policy}");
    }
}
