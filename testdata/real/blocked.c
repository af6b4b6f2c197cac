// Threads that wait in system calls, in the ways programs do.
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "wait.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static pthread_t self;
static int pipes[2];

static __attribute__((noinline)) void block(int which) {
  char byte;
  __sync_fetch_and_add(&waiting, 1);
  switch (which) {
  case 0: sink = read(pipes[0], &byte, 1); break;
  case 1: pthread_mutex_lock(&mutex); break;
  case 2:
    pthread_mutex_lock(&other);
    pthread_cond_wait(&cond, &other);
    break;
  case 3: sem_wait(&semaphore); break;
  case 4: {
    struct timespec t = {1000, 0};
    nanosleep(&t, NULL);
    break;
  }
  case 5: {
    struct pollfd p = {pipes[0], POLLIN, 0};
    poll(&p, 1, -1);
    break;
  }
  case 6: {
    struct epoll_event e;
    epoll_wait(epoll_create1(0), &e, 1, -1);
    break;
  }
  case 7: {
    int s = socket(AF_INET, SOCK_STREAM, 0);
    listen(s, 1);
    accept(s, NULL, NULL);
    break;
  }
  case 8: {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipes[0], &set);
    select(pipes[0] + 1, &set, NULL, NULL, NULL);
    break;
  }
  case 9: {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigwaitinfo(&set, NULL);
    break;
  }
  case 10: pthread_join(self, NULL); break;
  case 11: pthread_rwlock_wrlock(&rwlock); break;
  case 12: syscall(SYS_pause); break;
  case 13: { // a lock that a child holds
    int fd = open("lock", O_CREAT | O_RDWR, 0600);
    flock(fd, LOCK_EX);
    sink = flock(open("lock", O_RDWR), LOCK_EX);
    break;
  }
  case 14: sink = system("exec sleep 1000"); break;
  }
  sink++;
}

static void *thread(void *which) {
  block((intptr_t)which);
  return NULL;
}

int main(void) {
  pthread_t t;
  self = pthread_self();
  sem_init(&semaphore, 0, 0);
  pthread_mutex_lock(&mutex);
  pthread_rwlock_rdlock(&rwlock);
  if (pipe(pipes)) return 1;
  for (intptr_t i = 0; i < 15; i++) pthread_create(&t, NULL, thread, (void *)i);
  ready(15);
  wait_here();
}
