// Threads stopped at every instruction of a call: thread n takes n single steps (the trap flag of x86) and then waits in the handler of
// SIGTRAP. The steps go through a prologue, an epilogue, PLT stubs and lazy binding. Arguments: the first number of steps, and how many threads.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wait.h"

static __thread int left; // steps to take

// The stack pointer passes the red zone by, where the function may have variables.
#ifdef __x86_64__
#define CHANGE_FLAGS(how) __asm__ volatile("sub $128, %%rsp; pushfq; " how "q %0, (%%rsp); popfq; add $128, %%rsp"
#else
#define CHANGE_FLAGS(how) __asm__ volatile("pushfl; " how "l %0, (%%esp); popfl"
#endif
#define SET_TRAP_FLAG() CHANGE_FLAGS("or")::"i"(0x100) : "memory", "cc")
#define CLEAR_TRAP_FLAG() CHANGE_FLAGS("and")::"i"(~0x100) : "memory", "cc")

static void on_trap(int signal) {
  if (--left == 0) wait_here();
  sink = signal;
}

// The callee saves registers, aligns its frame and has a variable part.
static __attribute__((noinline)) long callee(long a, long b, long c, long d, long e, long f) {
  volatile char list[a + 10];
  long x = a * b, y = b * c, z = c * d, u = d * e, v = e * f;
  list[0] = (char)x;
  __asm__ volatile("" : "+r"(x), "+r"(y), "+r"(z), "+r"(u), "+r"(v)::"memory");
  return x + y * z + u * v + list[0];
}

static __attribute__((noinline)) long steps(char *text) {
  long a = strtol(text, NULL, 10), b = a + 1, c = a * 3;
  SET_TRAP_FLAG();
  long r = callee(a, b, c, a, b, c);
  r += labs(atol(text)); // by PLT stubs
  CLEAR_TRAP_FLAG();
  return r + a + b + c;
}

static void *thread(void *n) {
  left = (int)(intptr_t)n;
  sink = (int)steps("5");
  wait_here();
  return NULL;
}

int main(int argc, char **argv) {
  int from = atoi(argv[1]), count = atoi(argv[2]);
  struct sigaction a = {.sa_handler = on_trap};
  sigaction(SIGTRAP, &a, NULL);
  pthread_t t;
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, 64 << 10);
  for (intptr_t i = from; i < from + count; i++) pthread_create(&t, &attr, thread, (void *)i);
  ready(count);
  wait_here();
}
