package reason

import (
	"sort"
	"strings"
)

//go:generate go run ./internal/gen

// A table is one of the small tables of codes (signals, exceptions, fast-fail codes, …).
type table uint8

// Which of the two tools has a word of its own for a code. For a code that a tool does not know, the words are what
// it prints for unknown ones.
const (
	inBreakpad = 1 << iota
	inRust
)

// entry is a code of a small table.
type entry struct {
	table table
	peers uint8
	code  uint32
	name  string // as the tools print it; "" if neither has a name
	text  string // our own words; "" if there are none
}

// find looks a code up in a small table. The zero entry says that the table lacks it.
func find(t table, code uint32) entry {
	i := sort.Search(len(codes), func(i int) bool {
		e := &codes[i]
		return e.table > t || e.table == t && e.code >= code
	})
	if i < len(codes) && codes[i].table == t && codes[i].code == code {
		return codes[i]
	}
	return entry{}
}

// breakpad gives Breakpad's name of a code.
func (e entry) breakpad() (string, bool) { return e.name, e.peers&inBreakpad != 0 }

// rust gives rust-minidump's name of a code.
func (e entry) rust() (string, bool) { return e.name, e.peers&inRust != 0 }

// names is a table of thousands of codes, kept as two strings so that the program carries neither pointers nor offsets
// for them: the codes as differences, and the names one a line. A lookup reads through both, which takes some
// microseconds and happens a few times a dump.
type names struct {
	// prefix stands before every name that does not begin with '='.
	prefix string
	// codes are the differences between neighbouring codes, in ascending order, as unsigned varints.
	codes string
	// names end with a mark where the peers know the code in an unusual way: '!' only rust-minidump, '?' neither.
	names string
}

// lookup gives the name of a code and which tools know it. Without a mark, an error code (0xc0000000 and above) is
// known to both, others to rust-minidump only.
func (n *names) lookup(code uint32) (name string, peers uint8, ok bool) {
	var have uint64
	for pos, line := 0, 0; pos < len(n.codes); line++ {
		var diff uint64
		for shift := 0; pos < len(n.codes); shift += 7 {
			b := n.codes[pos]
			pos++
			diff |= uint64(b&0x7f) << shift
			if b < 0x80 {
				break
			}
		}
		if have += diff; have > uint64(code) {
			return "", 0, false
		} else if have == uint64(code) {
			return n.line(line, code)
		}
	}
	return "", 0, false
}

// line decodes the name in a line, counted from 0.
func (n *names) line(line int, code uint32) (string, uint8, bool) {
	rest := n.names
	for ; line > 0; line-- {
		rest = rest[strings.IndexByte(rest, '\n')+1:]
	}
	name, _, _ := strings.Cut(rest, "\n")
	peers := uint8(inRust)
	if code >= 0xc0000000 {
		peers |= inBreakpad
	}
	if s, ok := strings.CutSuffix(name, "!"); ok {
		name, peers = s, inRust
	} else if s, ok := strings.CutSuffix(name, "?"); ok {
		name, peers = s, 0
	}
	if s, ok := strings.CutPrefix(name, "="); ok {
		return s, peers, true
	}
	return n.prefix + name, peers, true
}
