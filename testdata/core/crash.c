// Two threads: one waits for a byte of a pipe, the other follows a list to its end and beyond.
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

struct item {
	struct item *next;
	long value;
};

static int ends[2];

__attribute__((noinline)) static long sum(const struct item *item, int left) {
	if (left == 0)
		return 0;
	return item->value + sum(item->next, left - 1);
}

__attribute__((noinline)) static void *wait_for_work(void *unused) {
	char byte;
	return read(ends[0], &byte, 1) ? &ends : unused;
}

int main(void) {
	struct item second = {NULL, 2}, first = {&second, 1};
	pthread_attr_t small;
	pthread_t thread;
	pipe(ends);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 16384);
	pthread_create(&thread, &small, wait_for_work, NULL);
	usleep(100000); // it waits
	return (int)sum(&first, 3);
}
