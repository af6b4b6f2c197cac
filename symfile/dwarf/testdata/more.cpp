// Another unit with a copy of a template's function.
#include "shapes.h"

int unused(int x) { return fourfold(x); }

int more(int x) { return geo::most<int>(x, 3) - 1; }
