/* Compiled by the tests: functions with inlined calls from a header, and parts that are split off as cold. */
#include "one.h"

volatile int state;

int outer(int x) {
  return scaled(x)
    + 1;
}

static int __attribute__((noinline)) guarded(int x) {
  if (__builtin_expect(x == 77, 0))
    report(x);
  state = x;
  return x;
}

int both(int x) {
  int sum = 0;
  for (int i = 0; i < x; i++)
    sum += guarded(i) + outer(i);
  return sum;
}

void report(int x) {
  state += x;
}
