# The protocol, and the neighbours of cells in every game. It doesn't know the rules: the referee lists
# the legal actions.
#
# A game is a hash with
#   name, setup, seat, seats, clock     of the referee's `hello`: the game's name, such as "hex", its
#                                       settings, your seat and everyone's
#   turn, left_ms, position, actions    of its `turn`: its number, your milliseconds left (undef without
#                                       a limit), the board and every legal action
#   history                             the messages `played` and `retired` so far
#
# A cell is as in the protocol: [row, column], in Chexers [q, r], in Chinese Checkers a number. Don't
# change the numbers in it, or they are sent as text.
package RefereeKit;
use strict;
use warnings;
use Exporter 'import';
use IO::Handle;
use JSON::PP;
use List::Util qw(max);

our @EXPORT_OK = qw(run end_of cells neighbours);

my $json = JSON::PP->new->utf8->canonical;

# Plays a match. $choose gets the game and returns one of its actions, or undef to resign.
sub run {
    my ($choose, $name) = @_;
    # All other output goes to stderr, and nothing else can read what the referee sends.
    open my $in,  '<&', \*STDIN  or die "cannot copy stdin: $!";
    open my $out, '>&', \*STDOUT or die "cannot copy stdout: $!";
    open STDOUT, '>&', \*STDERR or die "cannot redirect stdout: $!";
    open STDIN, '<', '/dev/null' or die "cannot redirect stdin: $!";
    $out->autoflush(1);    # the referee doesn't see a line that is still in a buffer
    STDOUT->autoflush(1);
    my $say = sub { print {$out} $json->encode($_[0]), "\n" };
    my $game;
    while (my $line = <$in>) {
        next unless $line =~ /\S/;
        my $message = eval { $json->decode($line) } or die "the last message is no JSON: $line$@";
        my $type = $message->{type};
        if ($type eq 'hello') {
            srand $message->{seed};
            $game = begin($message);
            $say->({ type => 'ready', name => $name, want => [ 'position', 'actions' ] });
        }
        elsif ($type eq 'turn') {
            $game->{$_} = $message->{$_} for qw(turn left_ms position actions);
            my $action = $choose->($game);
            $say->({
                type => $action ? 'action' : 'resign',
                turn => $message->{turn},
                $action ? (action => $action) : (),
            });
        }
        elsif ($type eq 'played' or $type eq 'retired') {
            push @{ $game->{history} }, $message;
        }
        elsif ($type eq 'over') {
            last;
        }
    }
}

# Returns the cell where an action ends; undef if it has none, such as "pass".
sub end_of {
    my ($action) = @_;
    return $action->{path} ? $action->{path}[-1] : $action->{at} // $action->{to};
}

# Returns every cell of the board, in order.
sub cells {
    my ($game) = @_;
    return @{ $game->{board}{cells} };
}

# Returns the cells beside this one, in order.
sub neighbours {
    my ($game, $cell) = @_;
    return @{ $game->{board}{neighbours}{ key($cell) } };
}

# The text of a cell, for a hash. Adding 0 makes copies: the numbers themselves stay numbers.
sub key {
    my ($cell) = @_;
    return ref $cell ? join ',', map { $_ + 0 } @$cell : $cell + 0;
}

sub begin {
    my ($hello) = @_;
    my ($name, $setup) = @$hello{qw(game setup)};
    my $game = { name => $name, history => [] };
    $game->{$_} = $hello->{$_} for qw(setup seat seats clock);
    my %shapes = (chexers => 'hexagon', freckers => 'square', 'chinese-checkers' => 'star');
    my $shape = $setup->{shape} // $shapes{$name} // 'diamond';
    $game->{board} = board($shape, $setup->{size} // ($name eq 'chexers' ? 3 : 8));
    return $game;
}

# Whether the board has a place on its grid.
sub has_place {
    my ($shape, $n, $x, $y) = @_;
    my $sum = $x + $y;
    return 0 <= $y && $y <= $x && $x < $n if $shape eq 'triangle';
    return max(abs $x, abs $y, abs $sum) <= $n if $shape eq 'hexagon';
    return max($x, $y, -$sum) <= $n || max(-$x, -$y, $sum) <= $n if $shape eq 'star';
    return 0 <= $x && 0 <= $y && $x < $n && $y < $n;
}

sub board {
    my ($shape, $n) = @_;
    my (@places, %names, %neighbours);
    for my $x (-2 * $n .. 2 * $n) {
        for my $y (-2 * $n .. 2 * $n) {
            next unless has_place($shape, $n, $x, $y);
            push @places, [ $x, $y ];
            # The star's cells are numbered row by row.
            $names{"$x,$y"} = $shape eq 'star' ? scalar @places : [ $x + 0, $y + 0 ];
        }
    }
    # A hexagonal board lacks one diagonal: the triangle's is the other one.
    my $missing = $shape eq 'square' ? 2 : $shape eq 'triangle' ? -1 : 1;
    my @steps = grep { $_->[0] * $_->[1] != $missing && ($_->[0] || $_->[1]) }
        map { my $x = $_; map { [ $x, $_ ] } -1 .. 1 } -1 .. 1;
    for my $place (@places) {
        my @beside = map { ($place->[0] + $_->[0]) . ',' . ($place->[1] + $_->[1]) } @steps;
        $neighbours{ key($names{ key($place) }) } = [ grep { defined } @names{@beside} ];
    }
    return { cells => [ map { $names{ key($_) } } @places ], neighbours => \%neighbours };
}

1;
