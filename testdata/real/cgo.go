// C calls Go, which calls C: stacks that change between goroutine and thread.
package main

/*
#cgo CFLAGS: -O0
#cgo LDFLAGS: -pthread
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
extern void goCallback(int n);
static volatile int sink;
static __attribute__((noinline)) void c_wait(void) { for (;;) pause(); }
static __attribute__((noinline)) void c_middle(int n) { char a[100]; a[n] = n; goCallback(n); sink = a[n]; }
static __attribute__((noinline)) void c_outer(int n) { c_middle(n); sink = n; }
static void *body(void *p) { goCallback(0); return p; }
static void c_thread(void) { pthread_t t; pthread_create(&t, 0, body, 0); }
static void c_ready(void) { printf("ready\n"); fflush(stdout); c_wait(); }
*/
import "C"

import "time"

//export goCallback
func goCallback(n C.int) {
	if n == 0 {
		C.c_wait()
	}
	below(int(n) - 1)
}

//go:noinline
func below(n int) { C.c_outer(C.int(n)) }

func main() {
	go C.c_wait()
	go below(0)
	go below(3)
	C.c_thread()
	time.Sleep(200 * time.Millisecond)
	C.c_ready()
}
