// What both programs share: inlined functions in a header, in each other.
#ifndef SHAPES_H
#define SHAPES_H

extern volatile int sink;

static inline __attribute__((always_inline)) int twice(int x) {
	sink = x;
	return x * 2;
}

static inline __attribute__((always_inline)) int fourfold(int x) {
	int y = twice(x);
	{
		int z = twice(y + 1);
		sink = z;
		return z;
	}
}

#ifdef __cplusplus
namespace geo {
// In both units, of which the linker keeps one.
template <typename T> __attribute__((noinline)) T most(T a, T b) {
	return a > b ? a + fourfold(b) : b;
}
} // namespace geo
#endif

#endif
