package input

// Twin is the same file for another goroutine: a Source with nothing in its cache yet, over the same reader. Nil if the reader does not
// bear that (see Parallel). Nobody watches it.
func (s *Source) Twin() *Source {
	if s.whole != nil {
		whole := s.whole.Twin()
		if whole == nil {
			return nil
		}
		t := whole.Sub(s.Name, s.base, s.Size)
		t.Slice = s.Slice
		return t
	}
	if s.data == nil && !s.Parallel {
		return nil
	}
	return &Source{Name: s.Name, Size: s.Size, Slice: s.Slice, Parallel: s.Parallel, r: s.r, data: s.data}
}
