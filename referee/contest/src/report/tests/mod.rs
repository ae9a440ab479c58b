mod samples;
mod comparison;
mod grades;
mod pages;
mod snapshots;
mod ties;
