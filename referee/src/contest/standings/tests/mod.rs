pub(in crate::contest) mod contests;
mod ranks;
mod sums;
