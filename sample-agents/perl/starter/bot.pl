#!/usr/bin/env perl
# A bot for Referee: prefers cells with many neighbours. Change `choose` to make it yours.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RefereeKit qw(run end_of neighbours);

# How good an action is.
sub worth {
    my ($game, $action) = @_;
    return 9 if $action->{type} eq 'exit';
    my $end = end_of($action);
    return defined $end ? scalar neighbours($game, $end) : 0;
}

# Returns one of @{ $game->{actions} } when it is your turn, or undef to resign. See RefereeKit.pm for
# what a game has; `referee games GAME` shows its actions.
sub choose {
    my ($game) = @_;
    # >>> Your idea goes here.
    my @best = ([], -1);
    for my $action (@{ $game->{actions} }) {
        my $worth = worth($game, $action);
        @best = ([], $worth) if $worth > $best[1];
        push @{ $best[0] }, $action if $worth == $best[1];
    }
    return $best[0][ rand @{ $best[0] } ];
}

run(\&choose, 'bot');
