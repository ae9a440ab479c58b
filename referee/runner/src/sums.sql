-- SHA-256 of a game's transcript with its seal, for SHA256SUMS; null in games of earlier versions. Workers no longer
-- sign what they report. Version 8.
alter table games add column sha256 text;
drop table signatures;
