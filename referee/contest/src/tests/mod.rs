mod changes;
mod modules;
mod schedule;
