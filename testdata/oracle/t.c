/* A program without a library whose every instruction is a place to unwind from: leaves, frames of fixed and of variable size,
   recursion, calls through a pointer. */
typedef unsigned long u;
volatile u sink;

#define OWN __attribute__((noinline, noclone))

OWN u leaf(u a) { return a * 3 ^ sink; }

OWN u inner(u a) {
	u buf[8], x = leaf(a + 1);
	for (u i = 0; i < 8; i++) buf[i] = x + i * sink;
	sink = buf[x & 7];
	return leaf(x) + x + buf[x >> 3 & 7];
}

OWN u middle(u a, u b) {
	u x = inner(a);
	return x + inner(b) + a * b;
}

OWN u recurse(u n) {
	if (!n) return middle(1, 2);
	return recurse(n - 1) + n * sink;
}

OWN u indirect(u (*f)(u), u a) { return f(a) + a; }

OWN u variable(u n) {
	volatile char b[n];
	b[0] = n;
	return inner(n) + b[n >> 1];
}

OWN void done(void) { sink++; }

#ifdef FRAME
/* Who follows this frame pointer from a function without one leaves out the callers between. */
__attribute__((optimize("no-omit-frame-pointer")))
#endif
void _start(void) {
	sink = recurse(2);
	sink += indirect(inner, 5);
	sink += variable(40 + (sink & 8));
	done();
	for (;;) sink++;
}

#ifdef __arm__
/* What the tables of .ARM.exidx refer to. */
void __aeabi_unwind_cpp_pr0(void) {}
void __aeabi_unwind_cpp_pr1(void) {}
#endif
