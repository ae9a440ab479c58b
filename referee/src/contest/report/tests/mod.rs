mod samples;
mod pages;
mod snapshots;
