// A function whose address a resolver chooses when it is first called (STT_GNU_IFUNC). The resolver waits.
void (*lazy_wait)(void);

static int chosen(int n) { return n + 1; }

static int (*resolve(void))(int) {
  lazy_wait();
  return chosen;
}

int lazy_function(int n) __attribute__((ifunc("resolve")));
