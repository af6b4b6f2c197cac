package symfile

// recent keeps what was put into it last: at least most values, and at most twice as many. What it forgets it forgets by halves, since who
// has put thousands in, to look them up one by one, must find all of them.
type recent[K comparable, V any] struct {
	most     int
	now, old map[K]V
}

// How many are kept of what a stack of 10,000 frames in as many functions needs: its symbols, and their names, are prepared together, unwind
// records a few thousand at a time for each walk.
const (
	mostSymbols, mostNames = 16 << 10, 16 << 10
	mostRules              = 8 << 10
)

func newRecent[K comparable, V any](most int) *recent[K, V] {
	return &recent[K, V]{most: most, now: map[K]V{}}
}

func (r *recent[K, V]) get(k K) (V, bool) {
	v, ok := r.now[k]
	if !ok {
		v, ok = r.old[k]
	}
	return v, ok
}

func (r *recent[K, V]) has(k K) bool {
	_, ok := r.get(k)
	return ok
}

// put answers the value.
func (r *recent[K, V]) put(k K, v V) V {
	if len(r.now) >= r.most {
		r.now, r.old = map[K]V{}, r.now
	}
	r.now[k] = v
	return v
}

func (r *recent[K, V]) clear() { r.now, r.old = map[K]V{}, nil }
