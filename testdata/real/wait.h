// What all programs here share: a thread waits at the end of its calls, and main says "ready" when all of them do.
#ifndef WAIT_H
#define WAIT_H
#include <stdio.h>
#include <unistd.h>

static volatile int waiting; // threads that have arrived
static volatile int sink;    // what is stored here keeps a call from being the last thing that its function does

static __attribute__((noinline, unused)) void wait_here(void) {
  __sync_fetch_and_add(&waiting, 1);
  for (;;) pause();
}

// ready waits until n threads have arrived, and says so.
static __attribute__((unused)) void ready(int n) {
  while (waiting < n) usleep(1000);
  printf("ready\n");
  fflush(stdout);
}
#endif
