// Threads of a D program: deep in a recursion with a delegate, and in a scope guard while an exception passes.
import core.atomic, core.thread, core.time, std.algorithm, std.stdio;

shared int waiting;
__gshared int sink;

pragma(inline, false) void waitHere()
{
    waiting.atomicOp!"+="(1);
    for (;;)
        Thread.sleep(1000.seconds);
}

pragma(inline, false) int recursion(int n, int delegate(int) f)
{
    int[10] local = n;
    if (n == 0)
        return f(local[0]);
    return recursion(n - 1, f) + local[n % 10];
}

pragma(inline, false) void fails(int n)
{
    scope (exit)
        waitHere();
    if (n > 2)
        throw new Exception("three");
    sink = n;
}

void recursing()
{
    int seen;
    sink = recursion(40, (int n) { seen += n; waitHere(); return seen; });
}

void main()
{
    new Thread(&recursing).start();
    new Thread({ try fails(3); catch (Exception e) sink = 1; }).start();
    while (waiting.atomicLoad < 2)
        Thread.sleep(1.msecs);
    writeln("ready");
    stdout.flush();
    waitHere();
}
