struct Box { int v; inline int get(int k) const; };
__attribute__((noinline)) int sink(int);
static inline int twice(int x) { return sink(x) * 2; }
inline int Box::get(int k) const { return twice(v + k) + 1; }
template <class T> __attribute__((noinline)) T weak(T x) { return twice(x) + 3; }
__attribute__((noinline)) static int helper(int x) { return weak(x) + 5; }
int fromB(int);
extern "C" int lib_c(int);
__attribute__((noinline)) int sink(int x) { return x ^ 0x55; }
__attribute__((cold, noinline)) int dead(int x) { return helper(x) + 9; }
int main() {
  Box b{3};
  int r = b.get(4);
  r += helper(r);
  r += fromB(r) + lib_c(r);
  return r;
}
