// Functions with every kind of frame that compilers make for Windows. make.sh says how the files beside this one come of it.
#define NI __attribute__((noinline))
#define EX __declspec(dllexport)
#if defined(__x86_64__)
__attribute__((naked)) void __chkstk(void) { __asm__("ret"); }
#elif defined(__i386__)
__attribute__((naked)) void _chkstk(void) { __asm__("popl %ecx\n subl %eax, %esp\n jmp *%ecx"); }
#elif defined(__aarch64__)
__attribute__((naked)) void __chkstk(void) { __asm__("ret"); }
#else
__attribute__((naked)) void __chkstk(void) { __asm__("lsl r4, r4, #2\n bx lr"); }
#endif
int _fltused;
static volatile int sink;
typedef int (*fn)(int, int);
NI static int leaf(int a) { sink = a; return a * 3 + sink; }
NI static int small(int a, int b) { return leaf(a + b) + leaf(b) * a; }
NI static int large(int n) { volatile char q[40000]; q[n & 7] = (char)n; return q[n & 3] + small(n, q[n & 7]); }
NI static int dynamic(int n, int k) { volatile char *p = __builtin_alloca((n & 15) * 16 + 16); p[k & 7] = (char)k; return small(p[k & 7], n) + p[k & 7]; }
NI static double floats(double a, double b, int n) { double r = a; for (int i = 0; i < (n & 3) + 1; i++) r = r * b + (double)leaf(i) + a; return r / (b + 1.0); }
NI static int tail(int a, int b) { sink += a; return small(b, a); }
NI static int varargs(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n); int r = 0; for (int i = 0; i < n; i++) r += leaf(__builtin_va_arg(l, int)); __builtin_va_end(l); return r; }
NI static int table(fn *f, int i) { return f[i](i, 2) + f[i](2, i); }
#if defined(__x86_64__)
// A function in two parts: the second one saves a register that the first one does not, and its record leads to that of the first.
__asm__(".text\n.globl split\n.seh_proc split\nsplit:\n push %rbx\n .seh_pushreg %rbx\n sub $48, %rsp\n .seh_stackalloc 48\n .seh_endprologue\n"
	" mov %ecx, %ebx\n call twice\n test %ebx, %ebx\n jne 1f\n add $48, %rsp\n pop %rbx\n ret\n"
	".seh_startchained\n1: mov %rsi, 40(%rsp)\n .seh_savereg %rsi, 40\n .seh_endprologue\n mov %ebx, %esi\n mov %esi, %ecx\n call twice\n add %esi, %eax\n"
	" mov 40(%rsp), %rsi\n add $48, %rsp\n pop %rbx\n ret\n.seh_endchained\n.seh_endproc\n");
int split(int n);
// Its frame pointer is above the end of its frame, and what it saves is found by it.
__asm__(".globl framed\n.seh_proc framed\nframed:\n push %rbp\n .seh_pushreg %rbp\n push %rdi\n .seh_pushreg %rdi\n sub $96, %rsp\n .seh_stackalloc 96\n"
	" lea 32(%rsp), %rbp\n .seh_setframe %rbp, 32\n mov %rsi, 80(%rsp)\n .seh_savereg %rsi, 80\n .seh_endprologue\n mov %ecx, %edi\n mov %ecx, %esi\n sub $64, %rsp\n"
	" call split\n add %edi, %eax\n mov 48(%rbp), %rsi\n lea 64(%rbp), %rsp\n pop %rdi\n pop %rbp\n jmp twice\n.seh_endproc\n");
int framed(int n);
#else
#define framed(n) twice(n)
#endif
__attribute__((used)) NI int twice(int n) { return leaf(n) + small(n, 1); }
EX int many(int a, int b, int c, int d, int e, int f) { int x = leaf(a) + b, y = leaf(c) + d, z = leaf(e) + f; return small(x, y) + x * z - y; }
EX int run(int n) {
	fn f[2] = {small, tail};
	return many(1, 2, 3, 4, 5, n) + large(n) + dynamic(n, 3) + (int)floats(n, 2.5, n) + tail(n, 4) + varargs(3, n, 2, 1) + table(f, n & 1) + framed(n) + framed(0);
}
