//! The web viewer's data: a match as JSON for a page, and the page itself. It serves nothing and reads
//! no file; that is the shell's.

mod assets;
mod export;
mod frames;
mod sheet;

pub use assets::{Asset, asset};
pub use export::export;
pub(crate) use frames::told;
pub use frames::{Asked, Complaint, Figure, Frame, Frames, Info};
pub use sheet::{Growth, Sheet, SheetSeat, Stage};

#[cfg(test)]
mod tests;
