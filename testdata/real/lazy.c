// Lazy binding under way: the dynamic linker, called by a PLT stub, looks for the function and calls its resolver.
#include "wait.h"

extern void (*lazy_wait)(void);
int lazy_function(int n);

static void arrived(void) {
  printf("ready\n");
  fflush(stdout);
  wait_here();
}

static __attribute__((noinline)) int caller(int n) { return lazy_function(n * 2) + 1; }

int main(int argc, char **argv) {
  lazy_wait = arrived;
  sink = caller(argc);
  return sink;
}
