// The x64 code of the file that ec.c is in.
__attribute__((noinline)) static int leaf(volatile char *q, int a) { q[1] = (char)a; return a * 5; }
__declspec(dllexport) int twin(int n) { volatile char q[100]; q[n & 7] = 1; return leaf(q, n) + q[1]; }
