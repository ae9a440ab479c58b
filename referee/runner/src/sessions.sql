-- Each time that the contest was gone on with, the first when it was begun; version 2.
create table sessions (
  number integer primary key,
  begun text not null,         -- RFC 3339, UTC
  sandbox text not null        -- what kept agents apart, as JSON
) strict;
