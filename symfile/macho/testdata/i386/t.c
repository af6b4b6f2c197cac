// The two functions of a macOS program for i386 whose stack the test walks. The fillers put the
// addresses where the report has them.
extern void release(void *);
void *volatile self;

__attribute__((noinline)) void causeCrash(int *p, int n) {
  void *kept = self; // in a register
  char room[16];
  __asm__ volatile("" : : "r"(room));
  release(kept);
  __asm__ volatile(".fill 23, 1, 0x90");
  *p = n;
  release(kept);
}

__attribute__((noinline)) void crash(int n) {
  __asm__ volatile(".fill 53, 1, 0x90");
  causeCrash(0, n);
  release(self);
}
