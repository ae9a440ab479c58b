#!/usr/bin/env perl
# Plays any game: picks one of the legal actions that the referee lists.
use strict;
use warnings;
use JSON::PP;

$| = 1;    # flushes after every line; nothing else may go to stdout: debug with warn
my $json = JSON::PP->new->utf8;

# Your rule goes here. $hello says which game this is and which seat is yours; $turn->{position} is
# the board, and $turn->{actions} has everything that is legal now: return one of them.
sub choose {
    my ($hello, $turn) = @_;
    my @actions = @{ $turn->{actions} };
    return $actions[ rand @actions ];
}

sub say_json {
    my ($message) = @_;
    print $json->encode($message), "\n";
}

my $hello;
while (my $line = <STDIN>) {
    next unless $line =~ /\S/;
    my $message = $json->decode($line);
    my $type    = $message->{type};
    if ($type eq 'hello') {
        $hello = $message;
        srand $hello->{seed};
        say_json({ type => 'ready', name => 'random (Perl)', want => [ 'position', 'actions' ] });
    }
    elsif ($type eq 'turn') {
        my $action = choose($hello, $message);
        say_json({ type => 'action', turn => $message->{turn}, action => $action });
    }
    elsif ($type eq 'over') {
        last;
    }
    # 'played' and 'retired' report what the others did, for a rule that keeps a board.
}
