// Frames that are hard to walk: each thread waits at the end of one kind of call. Compiled in many ways, see build/real.
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wait.h"

#define KEEP __attribute__((noinline))

static volatile int zero; // what is not known when the program is compiled

static KEEP void with_alloca(int n) {
  char *p = alloca(n);
  memset(p, n, n);
  wait_here();
  sink = p[n - 1];
}

static KEEP void with_array(int n) { // of variable length, in a loop, so that sp moves in the body
  for (int i = 1; i < n; i++) {
    char a[i * 100];
    memset(a, i, sizeof a);
    if (i == n - 1) wait_here();
    sink = a[i];
  }
}

static KEEP int with_varargs(int n, ...) {
  va_list list;
  double sum = 0;
  va_start(list, n);
  for (int i = 0; i < n; i++) sum += i & 1 ? va_arg(list, double) : va_arg(list, int);
  va_end(list);
  wait_here();
  return (int)sum;
}

static KEEP int with_recursion(int n) {
  char local[16];
  memset(local, n, sizeof local);
  if (n == 0)
    wait_here();
  else
    sink = with_recursion(n - 1);
  return local[n & 15] + sink;
}

static KEEP void with_large_frame(int n) {
  char a[100000];
  memset(a, n, sizeof a);
  wait_here();
  sink = a[n];
}

static KEEP void with_alignment(int n) { // the frame is aligned anew, and has a variable part
  _Alignas(64) char a[64];
  char *p = alloca(n);
  memset(a, n, sizeof a);
  memset(p, n, n);
  wait_here();
  sink = a[n & 63] + p[0] + ((uintptr_t)a & 63);
}

static int compare(const void *a, const void *b) {
  static int calls;
  if (++calls == 3) wait_here();
  return *(const int *)a - *(const int *)b;
}

static KEEP void with_callback(void) { // libc is between the frames
  int list[] = {5, 3, 8, 1, 9, 2};
  qsort(list, 6, sizeof list[0], compare);
  sink = list[0];
}

static KEEP __attribute__((noreturn)) void never_returns(void) {
  wait_here();
  abort();
}

static KEEP void with_noreturn(int n) { // the call may be the last instruction, so that the return address is the next function's
  if (n) never_returns();
  sink = n;
}

struct large {
  long words[40];
};

static KEEP long with_struct(struct large s, int a, int b, int c, int d, int e, int f, int g, int h) {
  wait_here();
  return s.words[3] + a + b + c + d + e + f + g + h;
}

static jmp_buf back;

static KEEP void jump(int n) {
  char a[200];
  memset(a, n, sizeof a);
  sink = a[n];
  longjmp(back, n);
}

static KEEP void with_longjmp(void) {
  volatile int before = sink;
  if (setjmp(back) == 0)
    jump(7);
  else
    wait_here();
  sink = before;
}

static KEEP int tail(int n) {
  wait_here();
  return n + sink;
}

static KEEP int with_tail_call(int n) { return tail(n * 3); } // at -O2 a jump, and no frame

static void *thread(void *which) {
  struct large s = {{1, 2, 3}};
  switch ((intptr_t)which) {
  case 0: with_alloca(1000 + zero); break;
  case 1: with_array(8 + zero); break;
  case 2: sink = with_varargs(6, 1, 2.0, 3, 4.0, 5, 6.0); break;
  case 3: sink = with_recursion(300 + zero); break;
  case 4: with_large_frame(9); break;
  case 5: with_alignment(33); break;
  case 6: with_callback(); break;
  case 7: with_noreturn(1 + zero); break;
  case 8: sink = with_struct(s, 1, 2, 3, 4, 5, 6, 7, 8); break;
  case 9: with_longjmp(); break;
  case 10: sink = with_tail_call(4); break;
  }
  return NULL;
}

int main(void) {
  pthread_t t;
  for (intptr_t i = 0; i < 11; i++) pthread_create(&t, NULL, thread, (void *)i);
  ready(11);
  wait_here();
  return 0;
}
