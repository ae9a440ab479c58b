//! Whole contests: run, resumed, viewed and reported. What drives many processes is in `full`.

mod interrupts;
mod left_out;
mod handed_in;
mod lock;
mod changed;
mod changes;
mod forged;
mod sums;
mod voids;
mod faults;
mod names;
mod formats;
mod quick;
mod checked;
mod graded;
mod published;
mod versions;
