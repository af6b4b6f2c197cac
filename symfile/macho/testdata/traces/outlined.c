// Functions from which -Oz outlines equal code, so that some keep their return address in a scratch
// register; leaves, and such with a frame.
struct node { struct node *next; long a, b, c; unsigned char name[8]; };
extern long other(long, ...);

#define MIX(n, k) \
  n->a = n->a * 31 + k; \
  n->b ^= n->a << 7; \
  n->c += n->b * 17 - n->name[2]; \
  n->name[1] = n->name[0] + n->name[3]; \
  n->name[4] = n->name[5] ^ n->name[6]

__attribute__((noinline)) long one(struct node *n, long k) { MIX(n, k); return n->c * k + n->a; }
__attribute__((noinline)) long two(struct node *n, long k) { if (k > 2) return k; MIX(n, k); return n->c - n->name[7]; }
__attribute__((noinline)) long three(struct node *n, long k) { MIX(n, k); n->next->a = k; return n->b; }
__attribute__((noinline)) long four(struct node *n, long k) { n->a += k; MIX(n, k); return n->a & 255; }

__attribute__((noinline)) long framed(struct node *n, long k) {
  long x = one(n, k), y = other(k, x), z = two(n->next, y);
  return x + y * z + three(n, k);
}

__attribute__((noinline)) long sized(struct node *n, long k) { // alloca
  long p[k & 63];
  other(k, p);
  return four(n, p[0]) + framed(n, k);
}

long (*const table[])(struct node *, long) = {one, two, three, four, framed, sized};
