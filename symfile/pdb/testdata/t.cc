// What a PDB can say of code: functions with parameters of many types, inlined calls in each other, a class, a template.
volatile int sink;

namespace shapes {
struct Point { int x, y; };
enum class Color { red, green };

static inline __attribute__((always_inline)) int square(int v) {
  sink = v;
  return v * v;
}

static inline __attribute__((always_inline)) int length2(const Point &p) {
  int a = square(p.x);
  sink = a;
  return a + square(p.y);
}

class Path {
public:
  __declspec(noinline) int total(const Point *points, unsigned count) const;
  __declspec(noinline) virtual void paint(Color c, double width);
  virtual void erase(int (*how)(const char *, ...), void **where);
  int closed = 0;
};

int Path::total(const Point *points, unsigned count) const {
  int sum = closed;
  for (unsigned i = 0; i < count; i++)
    sum += length2(points[i]);
  return sum;
}

void Path::paint(Color c, double width) {
  if (c == Color::red)
    sink = static_cast<int>(width);
  closed++;
}

void Path::erase(int (*how)(const char *, ...), void **where) {
  closed = how("erased", where);
}

template <typename T, int N> __declspec(noinline) T biggest(T (&values)[N]) {
  T best = values[0];
  for (T v : values)
    if (v > best)
      best = v;
  return best;
}
} // namespace shapes

static __declspec(noinline) int helper(int a, bool b, const short &c, unsigned long long d) {
  sink = a;
  return b ? c : static_cast<int>(d);
}

extern "C" __declspec(dllexport) int run(shapes::Path *path, shapes::Point *points, int n) {
  int values[] = {n, n + 1, n * 2};
  short s = 3;
  path->paint(shapes::Color::green, 1.5);
  int sum = path->total(points, n) + shapes::biggest(values);
  sum += helper(sum, n > 3, s, 7);
  return sum + shapes::length2(points[0]);
}

extern "C" int _fltused = 0;
extern "C" __declspec(dllexport) shapes::Path *make() {
  static shapes::Path p;
  return &p;
}
