mod changes;
mod schedule;
