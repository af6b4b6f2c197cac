int _Z4sinki(int);
static inline int in1(int x) { return _Z4sinki(x) + 1; }
static inline int in2(int x) { return in1(x) * in1(x + 1); }
int lib_unused(int x) { return in2(x); }
int lib_c(int x) {
  return in2(x) + in1(x);
}
