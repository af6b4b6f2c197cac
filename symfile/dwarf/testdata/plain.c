// C: no names but the functions' own.
#include "shapes.h"

volatile int sink;

void fail(int code) __attribute__((noreturn, cold));

void fail(int code) {
	sink = code;
	for (;;)
		sink = twice(sink);
}

static __attribute__((noinline)) int inner(int x) { return fourfold(x) - 1; }

int plain(int x) {
	int total = 0;
	for (int i = 0; i < x; i++)
		total += inner(i) + twice(total);
	return total;
}
