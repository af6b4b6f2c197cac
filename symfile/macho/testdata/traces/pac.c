// Functions that sign their return address, and such as Swift's async ones, which mark the frame
// pointer that they save (bit 60).
#define async __attribute__((swiftasynccall))
#define context __attribute__((swift_async_context))
extern long other(long, ...);
extern void fill(void *, long);

__attribute__((noinline)) long leaf(long a, long b) { return a * b + 3; }

__attribute__((noinline)) long framed(long a, long b, long c) {
  long x = leaf(a, b), y = other(b, c), z = other(x, y);
  return x + y * z + leaf(z, c);
}

__attribute__((noinline)) long wrapped(long a, long *p) { // its frame is made on one way only
  if (a < 3)
    return a;
  long x = other(a), y = other(*p);
  return framed(x, y, a);
}

__attribute__((noinline)) long sized(long n, long a) { // alloca
  long p[n & 63];
  fill(p, n);
  return framed(p[0], a, n);
}

__attribute__((noinline)) long tail(long a, long b) {
  other(a);
  return framed(b, a, 1);
}

async void next(context char *c);

__attribute__((noinline)) async void started(context char *c, long a) {
  long x = framed(a, a, 2);
  fill(c, x);
  fill(&x, 1);
  next(c);
}

__attribute__((noinline)) async void resumed(context char *c) {
  long p[40];
  fill(p, 1);
  fill(c, framed(p[0], p[1], p[2]));
  next(c);
}
