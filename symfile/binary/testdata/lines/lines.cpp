// Functions of all kinds: methods, operators, static ones, templates, those with inlined calls and those without.
#ifdef _WIN32
#define start mainCRTStartup
#else
#define start _start
#endif
volatile int g;
namespace app {
__attribute__((always_inline)) static inline int add(int x) { return x + g; }
struct Socket {
  int send(int n);
  int close(int n);
  int operator<<(int n);
  operator const char *();
};
int Socket::send(int n) { // has an inlined call
  g = n;
  return add(n) * 2;
}
int Socket::close(int n) { // has none
  g = n;
  g = 3;
  return n;
}
int Socket::operator<<(int n) { return add(n) + 4; }
Socket::operator const char *() {
  g = add(5);
  return 0;
}
namespace {
__attribute__((noinline)) int hidden(int x) {
  g = x;
  return add(x) * 3;
}
}
template <class T> __attribute__((noinline)) static T twice(T x) {
  g = x;
  return add(x) * 2;
}
}
extern "C" int by_hand(int);
extern "C" __attribute__((noinline)) int in_c(int x) { return app::add(x) + by_hand(x) + app::hidden(x) + app::twice(x); }
extern "C" void start() {
  app::Socket s;
  g = s.send(2);
  g = s.close(3);
  g = in_c(s << 2);
  const char *p = s;
  g = p != 0;
}
