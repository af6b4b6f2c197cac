// Code of ARM64EC, beside x64 code of ecx64.c: make.sh links both into a file for x64.
#define NI __attribute__((noinline))
static volatile int sink;
NI static int leaf(int a) { sink = a; return a * 3 + sink; }
NI static int small(int a, int b) { return leaf(a + b) + leaf(b) * a; }
NI static int large(int n) { volatile char q[4000]; q[n & 7] = (char)n; return q[n & 3] + small(n, q[n & 7]); }
NI static int dynamic(int n, int k) { volatile char *p = __builtin_alloca((n & 15) * 16 + 16); p[k & 7] = (char)k; return small(p[k & 7], n) + p[k & 7]; }
NI static double floats(double a, double b, int n) { double r = a; for (int i = 0; i < (n & 3) + 1; i++) r = r * b + (double)leaf(i) + a; return r / (b + 1.0); }
NI static int tail(int a, int b) { sink += a; return small(b, a); }
NI static int many(int a, int b, int c, int d, int e, int f) { int x = leaf(a) + b, y = leaf(c) + d, z = leaf(e) + f; return small(x, y) + x * z - y; }
__declspec(dllexport) int run(int n) { return large(n) + small(n, 2) + dynamic(n, 3) + (int)floats(n, 2.5, n) + tail(n, 4) + many(1, 2, 3, 4, 5, n); }
