// The library that closed.c closes.
#include <string.h>

static volatile int sink;

static __attribute__((noinline)) void inside(void (*wait)(void), int n) {
  char a[100];
  memset(a, n, sizeof a);
  wait();
  sink = a[n];
}

void enter(void (*wait)(void)) {
  inside(wait, 5);
  sink++;
}
