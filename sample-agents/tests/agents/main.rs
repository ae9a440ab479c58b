//! The built-in agents and the samples in matches of a small referee of their own.

#[cfg(test)]
mod kit;
#[cfg(test)]
mod protocol;
#[cfg(test)]
mod referee;
#[cfg(test)]
mod json;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod strength;
#[cfg(test)]
mod strong_python;
#[cfg(test)]
mod strong_rust;
