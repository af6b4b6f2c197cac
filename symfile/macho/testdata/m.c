// Functions of each kind that compact unwind information describes: with a frame, without one, with
// pushed registers, with a stack that is too large for the word, and with an inlined call.
extern int outside(int);
static inline __attribute__((always_inline)) int twice(int x) { return outside(x) + outside(x + 1); }

int leaf(int a, int b) { return a * b + 3; }

__attribute__((noinline)) static int local(int a) {
  volatile char room[100];
  room[a & 63] = (char)a;
  return outside(room[3]) + a;
}

int framed(int a, int b, int c, int d) {
  int e = twice(a);
  return local(b) + outside(c) * e + outside(d) + leaf(a, b);
}

int large(int a) {
  volatile char room[70000];
  room[a] = 1;
  return outside(room[5]) + framed(a, 1, 2, 3);
}

int recurse(int n) { return n < 2 ? framed(n, n, n, n) : recurse(n - 1) + recurse(n - 2); }
