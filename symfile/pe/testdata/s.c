// Frames that t.c does not have: structured exception handling, whose __finally is a function of its own that works on the frame of another,
// and stack pointers that were aligned, with and without memory of a size that only the program knows. make.sh says how the files are made.
#define NI __attribute__((noinline))
#define EX __declspec(dllexport)
#if defined(__x86_64__) || defined(__aarch64__)
__attribute__((naked)) void __chkstk(void) { __asm__("ret"); }
#endif
int _fltused;
static volatile int sink;
NI static int leaf(int a) { sink = a; return a * 3 + sink; }
NI static int small(int a, int b) { return leaf(a + b) + leaf(b) * a; }
NI static int aligned(int n) { _Alignas(64) volatile char q[128]; q[n & 7] = (char)n; return small(q[n & 7], n) + q[n & 7]; }
NI static int both(int n) { _Alignas(64) volatile char q[64]; volatile char *p = __builtin_alloca((n & 15) * 16 + 16); p[n & 7] = q[n & 7] = (char)n; return small(p[n & 7], n) + q[n & 7]; }
typedef struct { int a[40]; } big;
NI static big filled(int n) { big b; for (int i = 0; i < 40; i++) b.a[i] = n + i; b.a[3] = leaf(n); return b; }
NI static int byvalue(int n) { big b = filled(n); return b.a[3] + small(b.a[7], n); }
NI static int recursive(int n) { volatile char q[300]; q[n] = 1; return n ? recursive(n - 1) + q[n] : leaf(n); }
#if defined(__x86_64__) || defined(__aarch64__)
int __C_specific_handler(void) { return 1; }
NI static int guarded(int n) { volatile int r = 0; __try { r = small(n, 3); } __finally { r += leaf(n); } return r; }
NI static int twice(int n) { volatile int r = 0; __try { __try { r = leaf(n); } __finally { r += small(n, 1); } } __finally { r += aligned(n); } return r + leaf(r); }
NI static int filtered(int n) { volatile int r = 0; __try { r = small(n, 3); } __except (leaf(n)) { r = 2; } return r; }
#else
#define guarded(n) leaf(n)
#define twice(n) leaf(n)
#define filtered(n) leaf(n)
#endif
EX int run(int n) { return aligned(n) + both(n) + byvalue(n) + recursive(n) + guarded(n) + twice(n) + filtered(n); }
