package demangle

import "strings"

// maxDepth limits how deep the elements of a name may be nested. llvm-cxxfilt has the same limit for
// Rust.
const maxDepth = 500

// scanner reads a mangled name from its start to its end. After a failure it reads nothing more.
type scanner struct {
	in     string
	at     int
	depth  int
	failed bool
}

func (s *scanner) fail() { s.failed = true }

// peek returns the next byte, or 0 at the end and after a failure.
func (s *scanner) peek() byte {
	if s.failed || s.at >= len(s.in) {
		return 0
	}
	return s.in[s.at]
}

// next reads a byte. It fails at the end.
func (s *scanner) next() byte {
	c := s.peek()
	if c == 0 {
		s.fail()
		return 0
	}
	s.at++
	return c
}

// accept reads a text, if it is next.
func (s *scanner) accept(text string) bool {
	if s.failed || !strings.HasPrefix(s.in[s.at:], text) {
		return false
	}
	s.at += len(text)
	return true
}

// nested calls read one level deeper, and fails where the name is nested too deeply.
func (s *scanner) nested(read func()) {
	if s.failed {
		return
	}
	if s.depth++; s.depth > maxDepth {
		s.fail()
	} else {
		read()
	}
	s.depth--
}
