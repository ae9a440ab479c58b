-- The agents' copies in the contest's folder, by player, as JSON; version 6.
alter table contest add column copies text not null default '{}';
