//! The built-in agents and the samples in matches of a small referee of their own.

#[cfg(test)]
mod protocol;
#[cfg(test)]
mod referee;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod strength;
