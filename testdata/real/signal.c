// Threads inside signal handlers: on an alternate stack, on the same one, one handler interrupted by another, and after the
// mistakes that programs crash of.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "wait.h"

#define KEEP __attribute__((noinline))

static void on_crash(int signal, siginfo_t *info, void *context) {
  wait_here();
  sink = signal;
}

static void on_user2(int signal) {
  wait_here();
  sink = signal;
}

static void on_user1(int signal) {
  raise(SIGUSR2);
  sink = signal;
}

static KEEP void raise_both(int n) {
  char a[300];
  memset(a, n, sizeof a);
  raise(SIGUSR1); // its handler raises another
  sink = a[n];
}

static KEEP void read_null(volatile int *p) { sink = *p; }

static KEEP void call_null(void (*f)(void)) {
  f();
  sink = 2;
}

static KEEP void divide(int n) { sink = 5 / n; }

static KEEP void trap(void) {
  __builtin_trap();
}

static KEEP void raise_on_alternate_stack(void *stack, size_t size) {
  stack_t s = {.ss_sp = stack, .ss_size = size};
  sigaltstack(&s, NULL);
  raise_both(3);
  sink = 4;
}

static char data[16]; // no code

enum { alternate = 64 << 10, normal = 256 << 10 };

static void *thread(void *arg) {
  switch ((intptr_t)arg) {
  case 0: read_null(NULL); break;
  case 1: call_null(NULL); break;
  case 2: divide(0); break;
  case 3: trap(); break;
  case 4: raise_both(5); break;
  case 5: call_null((void (*)(void))0x10000); break;
  case 6: call_null((void (*)(void))data); break;
  default: raise_on_alternate_stack(arg, alternate);
  }
  return NULL;
}

int main(void) {
  struct sigaction a = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &a, NULL);
  sigaction(SIGFPE, &a, NULL);
  sigaction(SIGILL, &a, NULL);
  sigaction(SIGTRAP, &a, NULL);
  a = (struct sigaction){.sa_handler = on_user1};
  sigaction(SIGUSR1, &a, NULL);
  a = (struct sigaction){.sa_handler = on_user2, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR2, &a, NULL);
  pthread_t t;
  for (intptr_t i = 0; i < 7; i++) pthread_create(&t, NULL, thread, (void *)i);
  // A dump has the memory from the stack pointer to the end of its mapping: with the alternate stack just below the thread's own
  // it has both.
  char *both = mmap(NULL, alternate + normal, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstack(&attr, both + alternate, normal);
  pthread_create(&t, &attr, thread, both);
  ready(8);
  static char stack[alternate];
  raise_on_alternate_stack(stack, alternate);
}
