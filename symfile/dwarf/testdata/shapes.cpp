// Namespaces, classes, templates, a lambda, a function with a cold part, inlined calls in each other.
#include "shapes.h"

extern "C" int plain(int x);
int more(int x);
extern "C" void fail(int code) __attribute__((noreturn, cold));

namespace geo {

class Shape {
public:
	explicit Shape(int side) : side_(side) {}
	int area() const;
	virtual int corners() const;
	static int made;

private:
	int side_;
};

int Shape::made;

int Shape::area() const {
	if (side_ < 0)
		fail(side_);
	return fourfold(side_) * side_;
}

int Shape::corners() const { return 4 + twice(side_); }

namespace {

int hidden(int x) __attribute__((noinline));

int hidden(int x) {
	sink = x;
	return x + 3;
}

} // namespace

} // namespace geo

extern "C" int entry(int argc) {
	geo::Shape s(argc);
	auto add = [argc](int n) __attribute__((noinline)) { return n + argc + twice(n); };
	if (argc == 7)
		fail(argc);
	int sum = s.area() + s.corners() + geo::hidden(argc) + add(3) + plain(argc) + more(argc);
	return geo::most<int>(sum, argc) + int(geo::most<long>(argc, sum));
}
