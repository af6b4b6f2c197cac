/* A program without a library that makes every kind of frame that SFrame tells apart: leaves that save nothing, leaves that save
   registers where they can, frames that need offsets of one, two and four bytes, frames whose size is only known when they
   run, frames aligned to more than the ABI does, recursion. */
typedef unsigned long u;
volatile u sink;

#define OWN __attribute__((noinline, noclone))

/* The registers that a function says to change are changed, so that a value that is not where the rules say is lost. */
#if defined(__s390x__)
#define SET(r) "lghi %%" #r ",77\n\t"
#define SOME_SET SET(r10) SET(r11) SET(r14)
#define SOME "r10", "r11", "r14"
#define ALL_SET SET(r6) SET(r7) SET(r8) SET(r9) SOME_SET SET(r12) SET(r13)
#define ALL "r6", "r7", "r8", "r9", SOME, "r12", "r13"
#elif defined(__aarch64__)
#define SET(r) "mov " #r ",77\n\t"
#define SOME_SET SET(x19) SET(x30)
#define SOME "x19", "x30"
#define ALL_SET SET(x20) SET(x21) SET(x22) SET(x23) SET(x24) SET(x25) SET(x26) SET(x27) SET(x28) SOME_SET
#define ALL "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", SOME
#else
#define SET(r) "movq $77,%%" #r "\n\t"
#define SOME_SET SET(rbx)
#define SOME "rbx"
#define ALL_SET SET(r12) SET(r13) SET(r14) SET(r15) SOME_SET
#define ALL "r12", "r13", "r14", "r15", SOME
#endif

OWN u leaf(u a) { return a * 3 ^ sink; }

OWN u saving(u a) {
	__asm__ volatile(ALL_SET ::: ALL);
	return a + sink;
}

/* On s390x the frame pointer and the return address are kept in floating-point registers. */
OWN u sparing(u a) {
	__asm__ volatile(SOME_SET ::: SOME);
	return a - sink;
}

OWN u inner(u a) {
	u buf[8], x = leaf(a + 1);
	for (u i = 0; i < 8; i++) buf[i] = x + i * sink;
	sink = buf[x & 7];
	return saving(x) + sparing(x) + buf[x >> 3 & 7];
}

OWN u middle(u a, u b) {
	u x = inner(a);
	return x + inner(b) + a * b;
}

OWN u large(u n) {
	volatile char b[3000];
	b[n] = n;
	return inner(n) + b[n >> 1];
}

OWN u huge(u n) {
	volatile char b[90000];
	b[n] = n;
	return inner(n) + b[n >> 1];
}

OWN u variable(u n) {
	volatile char b[n];
	b[0] = n;
	return inner(n) + b[n >> 1];
}

OWN u aligned(u n) {
	volatile u b[8] __attribute__((aligned(64)));
	volatile char c[n];
	b[n & 7] = c[0] = n;
	return inner(n) + b[n >> 1 & 7] + c[n >> 1];
}

OWN u early(u n) {
	if (n < 3) return n;
	u r = 0;
	for (u i = 0; i < 2; i++) r += leaf(i + n);
	if (r & 1) return leaf(r) - leaf(n);
	return middle(r, n) + 1;
}

OWN u recurse(u n) {
	if (!n) return middle(1, 2);
	return recurse(n - 1) + n * sink;
}

OWN void done(void) { sink++; }

void _start(void) {
	sink = recurse(2);
	sink += early(1) + early(7) + early(8);
	sink += large(5) + huge(9);
	sink += variable(40 + (sink & 8));
	sink += aligned(24 + (sink & 8));
	done();
	for (;;) sink++;
}
