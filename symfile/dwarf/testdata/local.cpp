// A class without linker's names, which type units describe.
volatile int sink;

namespace outer {
namespace {

struct Local {
	int value;
	int __attribute__((noinline)) get(int x) {
		sink = x;
		return value + x;
	}
};

} // namespace

int __attribute__((noinline)) use(int x) {
	Local l{x};
	return l.get(x + 1);
}

} // namespace outer

extern "C" int entry(int argc) { return outer::use(argc); }
