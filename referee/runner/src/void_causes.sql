-- The player at whose seat an attempt became void, if it was at one; version 3.
alter table voids add column player integer;
