// A stack overflow: the thread waits in its SIGSEGV handler on an alternate stack.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "wait.h"

static void on_segv(int signal) {
  wait_here();
  sink = signal;
}

static __attribute__((noinline)) int overflow(int n) {
  volatile char local[200];
  local[0] = n;
  return overflow(n + 1) + local[0];
}

static void *thread(void *arg) {
  stack_t s = {.ss_sp = malloc(64 << 10), .ss_size = 64 << 10};
  sigaltstack(&s, NULL);
  sink = overflow(sink);
  return NULL;
}

int main(void) {
  struct sigaction a = {.sa_handler = on_segv, .sa_flags = SA_ONSTACK};
  sigaction(SIGSEGV, &a, NULL);
  pthread_attr_t attr;
  pthread_t t;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, 128 << 10);
  pthread_create(&t, &attr, thread, NULL);
  ready(1);
  wait_here();
}
