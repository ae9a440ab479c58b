-- The most memory that a seat has had, in units of 1,024 bytes, version 5.
alter table seats add column peak_memory_kb integer;
