// A program without a library that has a handler for SIGSEGV, with SA_SIGINFO or (PLAIN) without,
// and writes to a null pointer. handler is entered as the kernel enters it.
typedef unsigned long u;
#if defined(__x86_64__)
enum { SIGACTION = 13, SA = 0x4000000 };
u sys(u n, u a, u b, u c, u d) { register u r10 asm("r10") = d; asm volatile("syscall" : "+a"(n) : "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory"); return n; }
asm(".globl restorer; restorer: movq $15, %rax; syscall");
#elif defined(__i386__)
enum { SIGACTION = 174, SA = 0x4000000 };
u sys(u n, u a, u b, u c, u d) { asm volatile("int $0x80" : "+a"(n) : "b"(a), "c"(b), "d"(c), "S"(d) : "memory"); return n; }
#ifdef PLAIN
asm(".globl restorer; restorer: popl %eax; movl $119, %eax; int $0x80");
#else
asm(".globl restorer; restorer: movl $173, %eax; int $0x80");
#endif
#elif defined(__aarch64__)
enum { SIGACTION = 134, SA = 0x4000000 };
u sys(u n, u a, u b, u c, u d) { register u x8 asm("x8") = n, x0 asm("x0") = a, x1 asm("x1") = b, x2 asm("x2") = c, x3 asm("x3") = d; asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory"); return x0; }
asm(".globl restorer; restorer: mov x8, #139; svc #0");
#elif defined(__arm__)
enum { SIGACTION = 174, SA = 0x4000000 };
u sys(u n, u a, u b, u c, u d) { register u r0 asm("r0") = a, r1 asm("r1") = b, r2 asm("r2") = c, r3 asm("r3") = d; asm volatile("push {r7}; mov r7, %1; svc #0; pop {r7}" : "+r"(r0) : "r"(n), "r"(r1), "r"(r2), "r"(r3) : "memory"); return r0; }
#ifdef __thumb__
#ifndef MOV
#define MOV "movs"
#endif
asm(".syntax unified; .globl restorer; .thumb_func; restorer: " MOV " r7, #" NUMBER "; svc #0");
#else
asm(".syntax unified; .arm; .globl restorer; .type restorer, %function; restorer: mov r7, #" NUMBER "; svc #0");
#endif
#elif defined(__riscv)
enum { SIGACTION = 134, SA = 0 };
#define NO_RESTORER
u sys(u n, u a, u b, u c, u d) { register u a7 asm("a7") = n, a0 asm("a0") = a, a1 asm("a1") = b, a2 asm("a2") = c, a3 asm("a3") = d; asm volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3) : "memory"); return a0; }
#elif defined(__loongarch__)
enum { SIGACTION = 134, SA = 0 };
#define NO_RESTORER
u sys(u n, u a, u b, u c, u d) { register u a7 asm("a7") = n, a0 asm("a0") = a, a1 asm("a1") = b, a2 asm("a2") = c, a3 asm("a3") = d; asm volatile("syscall 0" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3) : "memory"); return a0; }
#elif defined(__mips__)
enum { SIGACTION = sizeof(u) == 8 ? 5013 : 4194, SA = 0 };
#define FLAGS_FIRST
u sys(u n, u a, u b, u c, u d) { register u v0 asm("$2") = n, a0 asm("$4") = a, a1 asm("$5") = b, a2 asm("$6") = c, a3 asm("$7") = d; asm volatile("syscall" : "+r"(v0), "+r"(a3) : "r"(a0), "r"(a1), "r"(a2) : "memory"); return v0; }
#elif defined(__powerpc__)
enum { SIGACTION = 173, SA = 0 };
u sys(u n, u a, u b, u c, u d) { register u r0 asm("r0") = n, r3 asm("r3") = a, r4 asm("r4") = b, r5 asm("r5") = c, r6 asm("r6") = d; asm volatile("sc" : "+r"(r3), "+r"(r0) : "r"(r4), "r"(r5), "r"(r6) : "memory", "cr0"); return r3; }
#elif defined(__s390x__)
enum { SIGACTION = 174, SA = 0 };
u sys(u n, u a, u b, u c, u d) { register u r1 asm("r1") = n, r2 asm("r2") = a, r3 asm("r3") = b, r4 asm("r4") = c, r5 asm("r5") = d; asm volatile("svc 0" : "+d"(r2) : "d"(r1), "d"(r3), "d"(r4), "d"(r5) : "memory"); return r2; }
#endif
#ifdef PLAIN
enum { SIGINFO = 0 };
#else
enum { SIGINFO = 4 };
#endif
extern void restorer(void);
int count;
void handler(int n) { count += n; for (;;) ; }
struct {
#ifdef FLAGS_FIRST
	unsigned flags;
	void (*handler)(int);
#else
	void (*handler)(int);
	u flags;
#ifndef NO_RESTORER
	void (*restorer)(void);
#endif
#endif
	u mask[4];
} action;
__attribute__((noinline)) int crash(int *p, int n) { *(volatile int *)p = n; return n + 1; }
void _start(void) {
	action.handler = handler;
	action.flags = SIGINFO | SA;
#if !defined(NO_RESTORER) && !defined(FLAGS_FIRST)
	if (SA) action.restorer = restorer;
#endif
	sys(SIGACTION, 11, (u)&action, 0, sizeof(action.mask[0]) * 0 + MASK);
	count += crash(0, count);
	for (;;) ;
}
