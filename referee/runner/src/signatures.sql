-- Workers' signatures of the games that they reported, version 4.
create table signatures (
  game integer primary key references games (number),
  worker text not null,        -- its name
  key text not null,           -- its public key, as OpenSSH writes it
  signature text not null      -- of the transcript's seal, in hex
) strict;
