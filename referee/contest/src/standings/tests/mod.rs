pub(crate) mod contests;
mod ranks;
mod sums;
