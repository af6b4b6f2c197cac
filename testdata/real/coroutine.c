// Coroutines, each with a stack of its own.
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "wait.h"

static ucontext_t first, second;

static __attribute__((noinline)) void deep(int n) {
  char a[100];
  memset(a, n, sizeof a);
  if (n > 0)
    deep(n - 1);
  else {
    ready(0);
    wait_here();
  }
  sink = a[n];
}

static void inner(void) {
  deep(10);
  sink = 1;
}

static void outer(void) {
  getcontext(&second);
  second.uc_stack.ss_sp = malloc(64 << 10);
  second.uc_stack.ss_size = 64 << 10;
  second.uc_link = &first;
  makecontext(&second, inner, 0);
  ucontext_t here;
  swapcontext(&here, &second);
}

int main(void) {
  ucontext_t here;
  getcontext(&first);
  first.uc_stack.ss_sp = malloc(64 << 10);
  first.uc_stack.ss_size = 64 << 10;
  first.uc_link = &here;
  makecontext(&first, outer, 0);
  swapcontext(&here, &first);
  return sink;
}
