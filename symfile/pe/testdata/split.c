static volatile int seen;
__attribute__((noinline)) int crash_here(int *p) {
	seen = 1;
	return *p;
}
int start(void) {
	return crash_here(0) + seen;
}
