"""Connects to the outside: attack_network.py TCP UDP UNIX ABSTRACT, two ports, a path and a name."""

import socket
import struct

from lib_agent import arguments, attempt, play_after

tcp, udp, unix, abstract = arguments()
VSOCK_HOST = 2


def connect(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as connection:
        connection.settimeout(2)
        connection.connect(address)


def send_datagram():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        connection.sendto(b"hostile", ("127.0.0.1", int(udp)))


def ask_name_server():
    """A question to a name server is a datagram to port 53."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        connection.sendto(b"\0" * 12, ("127.0.0.53", 53))


def listen():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()


def netlink():
    """Asks for the interfaces of the machine."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as connection:
        connection.bind((0, 0))
        connection.send(struct.pack("=LHHLL", 20, 18, 0x301, 1, 0) + b"\0" * 4)
        connection.settimeout(2)
        return f"{len(connection.recv(4096))} bytes"


def made(family, kind=socket.SOCK_STREAM, protocol=0):
    socket.socket(family, kind, protocol).close()


def attack():
    attempt("connect by TCP", lambda: connect(socket.AF_INET, ("127.0.0.1", int(tcp))))
    attempt("connect by TCP 6", lambda: connect(socket.AF_INET6, ("::1", int(tcp))))
    attempt("listen by TCP", listen)
    attempt("send by UDP", send_datagram)
    attempt("ask a name server", ask_name_server)
    attempt("connect to a unix socket", lambda: connect(socket.AF_UNIX, unix))
    attempt("connect to an abstract socket", lambda: connect(socket.AF_UNIX, "\0" + abstract))
    attempt("ask by netlink", netlink)
    attempt("make a vsock", lambda: made(socket.AF_VSOCK))
    attempt("make a raw socket", lambda: made(socket.AF_INET, socket.SOCK_RAW, 1))
    attempt("make a packet socket", lambda: made(socket.AF_PACKET, socket.SOCK_RAW))
    attempt("make a socket of the kernel's cryptography", lambda: made(socket.AF_ALG, 5))


play_after(attack)
