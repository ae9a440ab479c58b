-- A contest, version 1. Times are in milliseconds or, where the name says so, nanoseconds.
create table contest (
  one integer primary key check (one = 1),
  text text not null,          -- the contest file
  base text not null,          -- the folder that names in it are relative to
  contest text not null,       -- what was read from it, as JSON
  left_out text not null,      -- submissions that were left out and why, as JSON
  begun text not null,         -- RFC 3339, UTC
  files text not null,         -- what agents' digests are made of, by player, as JSON
  referee text not null        -- the version that began it
) strict;

create table players (
  number integer primary key,
  name text not null unique,
  run text not null,           -- the agent as it was written
  digest text not null         -- SHA-256, in hex
) strict;

-- The games that count, by their place in the schedule.
create table games (
  number integer primary key,
  block integer not null,
  round integer not null,
  game integer not null,       -- which of the contest's games, from 0
  match_id text not null,
  seed integer not null,
  result text not null,        -- played, fault, resigned
  reason text not null,
  scores text,                 -- JSON, one entry a seat
  turns integer not null,
  lag_ns integer not null,
  marked integer not null,     -- the referee was late by more than the contest's bound
  moves text not null,         -- SHA-256 over game, setup and actions
  transcript text not null,    -- relative to the folder
  seal text not null           -- SHA-256 of the transcript, as its seal has it
) strict;

create table seats (
  game integer not null references games (number),
  seat integer not null,
  player integer not null references players (number),
  place integer not null,
  score integer,
  used_ms integer not null,
  cpu_ms integer not null,
  turns integer not null,
  fault text,
  fault_text text,
  primary key (game, seat)
) strict, without rowid;

create index seats_by_player on seats (player);

-- Attempts that don't count.
create table voids (
  game integer not null,
  attempt integer not null,
  cause text not null,
  text text not null,
  transcript text,
  primary key (game, attempt)
) strict, without rowid;
