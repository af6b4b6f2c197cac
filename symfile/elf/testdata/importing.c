/* Linked by the tests: calls of imported functions, and one whose address is taken. */
struct item { struct item *next; int value; };
extern int first(int), second(int), third(int);
static struct item list[3];
int (*volatile taken)(int);

static int __attribute__((noinline)) sum(struct item *i) {
  int s = 0;
  for (; i; i = i->next)
    s += i->value;
  return s;
}

int run(int x) {
  taken = second;
  list[0].value = first(x);
  list[1].value = third(x);
  list[0].next = &list[1];
  return second(sum(list)) + taken(3);
}
