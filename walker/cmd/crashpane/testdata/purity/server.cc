// Crashes for the 20 causes of TestPurity: "server CAUSE INPUT". Each has a chain of its own whose depth the input changes; two of
// them fail in the same helper, and several in libraries. V changes the code around between builds.
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
#define NI __attribute__((noinline))
volatile int sink;
static int *volatile nullp;
struct Node {
	Node *next;
	int v;
	virtual int get() { return v; }
	virtual ~Node() {}
};
NI int filler(int a) {
	for (int i = 0; i < a; i++)
		sink += i * V;
	return sink;
}
#if V > 5
NI int more(int a) { return filler(a) + filler(a + 1) * V; }
#endif
namespace util {
NI int deref(int *p) { return *p + 1; }
NI void copy(char *d, const char *s, size_t n) { memcpy(d, s, n); }
NI int walk(Node *n) {
	int c = 0;
	for (; n; n = n->next)
		c += n->v;
	return c;
}
} // namespace util
#define CAUSE(name, ...)               \
	namespace name {                   \
	NI void leaf(int n) { __VA_ARGS__ } \
	NI void mid(int n) {               \
		if (n > 0)                     \
			mid(n - 1);                \
		else                           \
			leaf(n);                   \
		sink++;                        \
	}                                  \
	NI void entry(int n) {             \
		mid(n % 4);                    \
		sink++;                        \
	}                                  \
	}
// a helper that others use, too
CAUSE(c0, sink = util::deref(nullp);)
// the same helper, another caller
CAUSE(c1, sink = util::deref((int *)nullp + 3);)
CAUSE(c2, char b[8]; util::copy(nullptr, b, 8 + n);)
CAUSE(c3, sink = util::walk((Node *)0x10);)
CAUSE(c4, abort();)
CAUSE(c5, assert(sink == 12345);)
CAUSE(c6, throw std::runtime_error("six");)
CAUSE(c7, std::vector<int> v; sink = v.at(5 + n);)
CAUSE(c8, int z = sink - sink; sink = 10 / z;)
CAUSE(c9, char *p = (char *)malloc(8); free(p); free(p);)
CAUSE(c10, Node *o = *(Node **)&nullp; sink = o->get();)
CAUSE(c11, void (*f)(int) = (void (*)(int))(size_t)nullp; f(3); sink++;)
CAUSE(c12, struct R { static NI int r(int d) { volatile char x[3000]; x[0] = d; return r(d + 1) + x[0]; } }; sink = R::r(n);)
CAUSE(c13, std::string *s = *(std::string **)&nullp; s->append("x"); sink = s->size();)
CAUSE(c14, std::map<int, int> m; auto it = m.find(3); sink = *(int *)((char *)&*it + 0x100000000ull);)
CAUSE(c15, std::function<void()> f; f();)
CAUSE(c16, std::shared_ptr<Node> p; sink = p->get();)
CAUSE(c17, *(volatile int *)"text" = 5;)
CAUSE(c18, __builtin_trap();)
CAUSE(c19, std::vector<std::string> v(3); std::sort(v.begin(), v.end(), [](const std::string &, const std::string &) { return *nullp != 0; });)
static void (*const all[])(int) = {c0::entry, c1::entry, c2::entry, c3::entry, c4::entry, c5::entry, c6::entry, c7::entry, c8::entry, c9::entry, c10::entry, c11::entry, c12::entry, c13::entry, c14::entry, c15::entry, c16::entry, c17::entry, c18::entry, c19::entry};
namespace app {
NI void dispatch(int cause, int n) {
	all[cause](n);
	sink++;
}
} // namespace app
int main(int, char **args) { app::dispatch(atoi(args[1]), atoi(args[2])); }
