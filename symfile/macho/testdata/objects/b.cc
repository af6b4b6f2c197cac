int sink(int);
int global = 7;
template <class T> __attribute__((noinline)) T weak(T x) { return sink(x) + 33; }
__attribute__((noinline)) static int helper(int x) {
  int s = global;
  for (int i = 0; i < x; i++)
    s += sink(i);
  return s;
}
int fromB(int x) { return helper(x) + weak(x) + weak(3L); }
