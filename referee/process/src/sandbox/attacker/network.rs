//! Network targets.

use super::{Outcome, Targets, plain};
use nix::sys::socket::{AddressFamily, SockFlag, SockProtocol, SockType, socket};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixStream};
use std::time::Duration;

/// How long a local connection may take.
const PATIENCE: Duration = Duration::from_secs(1);

fn here(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

pub(super) fn connect_tcp(targets: &Targets) -> Outcome {
    plain(TcpStream::connect_timeout(&here(targets.tcp), PATIENCE))
}

/// Sends twice: the second packet reports that no one listens.
pub(super) fn send_udp(targets: &Targets) -> Outcome {
    plain((|| {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        socket.connect(here(targets.udp))?;
        socket.send(b"attack")?;
        socket.send(b"attack")
    })())
}

pub(super) fn connect_abstract(targets: &Targets) -> Outcome {
    let address = UnixAddress::from_abstract_name(&targets.word);
    plain(address.and_then(|address| UnixStream::connect_addr(&address)))
}

pub(super) fn open_netlink() -> Outcome {
    let (family, kind) = (AddressFamily::Netlink, SockType::Raw);
    plain(socket(family, kind, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute))
}
