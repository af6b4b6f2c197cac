void report(int) __attribute__((cold));

static inline int scaled(int x) {
  if (x > 3)
    report(x);
  return x * 3;
}
