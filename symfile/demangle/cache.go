package demangle

// maxCached is how many names a Cache keeps. A stack of tens of thousands of frames has far fewer names than frames.
const maxCached = 8192

// Cache remembers readable names. It keeps two generations of half its size: when the young one is full, it becomes the
// old one, and what was old and not asked for again is forgotten. The zero value is ready; it is not for several
// goroutines at once.
type Cache struct {
	young, old map[string]string
}

// Name is the package's Name, remembered.
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
