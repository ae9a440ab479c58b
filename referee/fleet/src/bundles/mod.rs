//! How agents travel: packed by the coordinator as gzipped tar files, unpacked by each worker in
//! folders of their own, built there and read as contenders. What comes from the wire is hostile:
//! no path in it is followed out of its folder, and nothing in it is larger than it may be.

mod archive;
mod walk;
mod luggage;
mod unpack;
mod guard;
mod settling;
mod arrivals;
mod pack;
mod travel;

pub use arrivals::Arrivals;
pub use pack::{Packed, pack};
pub use travel::{Fetch, fetching, find_object, names_pieces, read_object};

#[cfg(test)]
mod tests;
