package input

// Memory returns the whole file if it is in memory, else nil. The caller must not change it.
func (s *Source) Memory() []byte { return s.data }
