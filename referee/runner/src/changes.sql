-- What was changed after the contest began, in order, as JSON; version 7. Rows are only added.
create table changes (
  number integer primary key,
  change text not null
) strict;
