package reason

import (
	"sort"
	"strings"
)

//go:generate go run ./internal/gen

// table is one of the small tables of codes: signals, exceptions, fast-fail codes …
type table uint8

// entry.peers says which of the two tools knows a code. For others a tool prints its text for
// unknown codes.
const (
	inBreakpad = 1 << iota
	inRust
)

// entry is a code of a small table.
type entry struct {
	table table
	peers uint8
	code  uint32
	name  string // as the tools print it, or "" if neither has a name
	text  string // Crashpane's text, or ""
}

// find returns the entry of a code in a small table, or the zero entry.
// codes is sorted by table and code, so one binary search finds both.
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

// breakpad returns Breakpad's name of a code.
func (e entry) breakpad() (string, bool) { return e.name, e.peers&inBreakpad != 0 }

// rust returns rust-minidump's name of a code.
func (e entry) rust() (string, bool) { return e.name, e.peers&inRust != 0 }

// names is a table of thousands of codes in two strings, so that the program needs no pointers and
// offsets for them. A lookup scans both, which takes microseconds and happens a few times for a
// dump.
type names struct {
	// prefix is added to every name that does not begin with '='.
	prefix string
	// codes are the differences between consecutive codes, ascending, as unsigned varints.
	codes string
	// names has the names, one per line. By default both tools know an error code (0xc0000000 and
	// above), and only rust-minidump others. A last character '!' means that only rust-minidump
	// knows the code, '?' that neither does.
	names string
}

// lookup returns the name of a code and which tools know it.
func (n *names) lookup(code uint32) (name string, peers uint8, ok bool) {
	var have uint64
	for pos, line := 0, 0; pos < len(n.codes); line++ {
		var diff uint64
		// A varint as encoding/binary writes it: seven bits a byte, the lowest first.
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
			return n.nameAt(line, code)
		}
	}
	return "", 0, false
}

// nameAt decodes the name in a line of names, counted from 0.
func (n *names) nameAt(line int, code uint32) (string, uint8, bool) {
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
