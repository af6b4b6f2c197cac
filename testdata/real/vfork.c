// The child of vfork waits before it calls exec: it uses its parent's memory and stack. It writes its own process id.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "wait.h"

static __attribute__((noinline)) void child(int n) {
  char line[32];
  int length = snprintf(line, sizeof line, "ready %d\n", (int)getpid());
  if (write(1, line, length) != length) _exit(1);
  for (;;) pause();
  sink = line[n];
}

static __attribute__((noinline)) void start(int n) {
  char a[500];
  memset(a, n, sizeof a);
  if (vfork() == 0) {
    child(n);
    _exit(0);
  }
  sink = a[n];
}

int main(void) {
  start(3);
  return sink;
}
