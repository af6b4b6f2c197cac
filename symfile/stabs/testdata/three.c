/* Compiled by the tests: code that claims to come from other files. */
static int __attribute__((noinline)) leaf(int x) { return x ^ 5; }
#line 100 "made/up.inc"
int twice(int x) {
  return leaf(x) + leaf(x + 1);
}
#line 30 "three.c"
int last(int x) {
  return twice(x)
#line 7 "/absolute/name.inc"
    * 3 + leaf(x)
#line 33 "three.c"
    ;
}
