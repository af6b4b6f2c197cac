package input

// Memory is all of the file if it is in memory anyway, else nil. It must not be changed.
func (s *Source) Memory() []byte { return s.data }
