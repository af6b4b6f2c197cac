package demangle

// maxCached is the most names that a Cache keeps. A stack of tens of thousands of frames has far fewer names than frames.
const maxCached = 8192

// Cache caches results of Name in two generations. When the young one has half of maxCached names, it becomes the old one, and the
// names of the old one that were not used since are evicted. The zero value is ready to use. It is not safe for concurrent use.
type Cache struct {
	young, old map[string]string
}

// Name is the package's Name with a cache.
func (c *Cache) Name(raw string) string {
	if !looksMangled(raw) {
		return Name(raw)
	}
	if s, ok := c.young[raw]; ok {
		return s
	}
	s, ok := c.old[raw]
	if !ok {
		s = Name(raw)
	}
	if len(c.young) >= maxCached/2 || c.young == nil {
		c.old, c.young = c.young, make(map[string]string)
	}
	c.young[raw] = s
	return s
}
