//! Who sends a request: an address, by which connections and followers are counted, since one who has the token can have
//! any number of sessions; and a session, to which matches and questions belong.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::convert::Infallible;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// A visitor: an address, or the part of an address of version 6 that one network has for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Visitor(IpAddr);

/// Who asks: a session, and without one an address.
pub(super) type Asker = (Session, Visitor);

impl Visitor {
    pub(super) fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
            }
            address @ IpAddr::V4(_) => address,
        })
    }

    /// Whether it is a program on this machine.
    pub(super) fn is_this_machine(self) -> bool {
        // The rest of an address of version 6 is not kept, and no network has its beginning.
        self.0.is_loopback() || self.0 == Ipv6Addr::UNSPECIFIED
    }
}

impl fmt::Display for Visitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The session of a request, by which visitors are told apart; without one if everyone may visit.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Session(Option<Arc<str>>);

impl Session {
    pub(super) fn of(number: &str) -> Self {
        Self(Some(number.into()))
    }
}

impl<S: Sync> FromRequestParts<S> for Session {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        // The guard has found it.
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        // Each connection has one: `connections::serve`.
        let known = parts.extensions.get::<Self>().copied();
        Ok(known.unwrap_or(Self(Ipv4Addr::UNSPECIFIED.into())))
    }
}

#[cfg(test)]
mod tests {
    use super::Visitor;

    #[test]
    fn a_visitor_is_an_address_or_its_network() {
        let of = |text: &str| Visitor::of(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:0:0:2"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
        assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
    }
}
