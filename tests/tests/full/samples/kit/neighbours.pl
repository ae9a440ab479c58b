# A bot that prints the neighbours of the cells that it gets as a position; see agents/kits.rs.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use JSON::PP;
use RefereeKit qw(run cells neighbours);

run(sub {
    my ($game) = @_;
    die 'other cells' if encode_json([ cells($game) ]) ne encode_json($game->{position});
    print STDERR encode_json([ neighbours($game, $_) ]), "\n" for @{ $game->{position} };
    return;
}, 'neighbours');
