// A small Windows program that crashes: it prints receipts, and the price list of the second one is not there.
#define KEEP __attribute__((noinline))
typedef unsigned long long size;

struct Price {
  const char *name;
  size cents;
};

struct Order {
  const struct Price *prices;
  size count;
  struct Order *next;
};

static volatile size printed;

static inline size cents_of(const struct Price *price) {
  return price->cents; // the crash
}

KEEP size total(const struct Order *order, size discount) {
  size sum = 0, seen[40]; // a frame that no scan can pass without guessing
  for (size i = 0; i < order->count; i++) {
    size one = cents_of(&order->prices[i]);
    seen[i % 40] = one;
    sum += one * (100 - discount) / 100 + (seen[(i * 7) % 40] & 0);
  }
  return sum;
}

KEEP size print_receipt(const struct Order *order, size number) {
  size cents = total(order, number % 2 ? 10 : 0);
  printed += cents / 100;
  return cents + printed;
}

KEEP size print_all(const struct Order *order) {
  size sum = 0;
  for (size number = 0; order; order = order->next, number++)
    sum += print_receipt(order, number) ^ number;
  return sum;
}

static const struct Price prices[] = {{"tea", 250}, {"cake", 390}};
static struct Order second = {0, 2, 0};
static struct Order first = {prices, 2, &second};

__declspec(dllexport) int start(void) {
  return (int)(print_all(&first) + printed);
}
