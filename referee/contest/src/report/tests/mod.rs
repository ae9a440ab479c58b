mod samples;
mod pages;
mod snapshots;
mod ties;
