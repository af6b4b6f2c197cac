// Compiled by the tests: names of C++, and code that claims to come from another file.
namespace space {
struct Thing {
  int method(int);
  static int fixed();
  template <class T> T generic(T);
};
}

#line 100 "made/up.inc"
int space::Thing::method(int x) {
  return x + 1;
}
#line 7 "two.cc"
int space::Thing::fixed() { return 4; }
template <> int space::Thing::generic<int>(int x) { return x; }
extern "C" int plain(int x) {
  space::Thing t;
  return t.method(x) + t.generic(x);
}
