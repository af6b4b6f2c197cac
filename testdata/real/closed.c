// A thread waits in a function that a library called; another thread closes the library. If the argument is "stays", the library cannot be
// unloaded (RTLD_NODELETE), and its code is still there.
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "wait.h"

static void *thread(void *enter) {
  ((void (*)(void (*)(void)))enter)(wait_here);
  sink++;
  return NULL;
}

int main(int argc, char **argv) {
  int flags = RTLD_NOW | (argc > 2 && !strcmp(argv[2], "stays") ? RTLD_NODELETE : 0);
  void *library = dlopen(argv[1], flags);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  pthread_t t;
  pthread_create(&t, NULL, thread, dlsym(library, "enter"));
  while (waiting < 1) usleep(1000);
  usleep(20000); // until it is in the system call
  dlclose(library);
  ready(1);
  wait_here();
}
