# Nested calls, with a callback of sort among them.
$| = 1;

sub wait_here {
    print "ready\n";
    sleep 1000 while 1;
}

sub recursion {
    my $n = shift;
    wait_here() if $n == 0;
    return recursion($n - 1) + $n;
}

my @list = sort { recursion(20) if $a == 8 || $b == 8; $a <=> $b } (5, 3, 8, 1);
