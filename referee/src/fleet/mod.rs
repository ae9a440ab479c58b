//! A contest on many machines, as far as it is calculation: what its coordinator and its workers say
//! to each other, under which names, and who gets which games. Pure: the connection to the server,
//! the processes and the files are in `shell::fleet`.

pub mod demand;
pub mod dispatch;
pub mod messages;
pub mod names;
pub mod workers;

pub use messages::{
    Announcement, Beat, Brief, BundleRef, Live, Order, Parcel, Report, Resend, Traveller, Try,
    WorkerFault, WorkerInfo,
};
pub use names::Names;
pub use workers::{WorkerTold, Workers};
