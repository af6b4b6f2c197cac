package reason

import (
	"bytes"
	_ "embed"
	"encoding/binary"
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

// names is a table of thousands of codes, packed so that the program needs no pointers and offsets
// for them. A lookup scans it, which takes microseconds and happens a few times for a dump.
type names struct {
	// prefix is added to every name that does not begin with '='.
	prefix string
	// packed has, for each code in ascending order, the difference to the code before as an unsigned
	// varint, the name, and '\n'. By default both tools know an error code (0xc0000000 and above),
	// and only rust-minidump others. A last character '!' means that only rust-minidump knows the
	// code, '?' that neither does.
	packed []byte
}

//go:embed ntstatus.bin
var ntStatusPacked []byte

//go:embed winerror.bin
var winErrorPacked []byte

var (
	ntStatus = names{"STATUS_", ntStatusPacked}
	winError = names{"ERROR_", winErrorPacked}
)

// lookup returns the name of a code and which tools know it.
func (n *names) lookup(code uint32) (name string, peers uint8, ok bool) {
	have := uint64(0)
	for rest := n.packed; len(rest) > 0 && have <= uint64(code); {
		diff, size := binary.Uvarint(rest)
		have += diff
		packed, after, _ := bytes.Cut(rest[size:], []byte{'\n'})
		if have == uint64(code) {
			name, peers = n.unpack(string(packed), code)
			return name, peers, true
		}
		rest = after
	}
	return "", 0, false
}

// unpack returns the name of a code, whose packed form is given, and which tools know it.
func (n *names) unpack(packed string, code uint32) (name string, peers uint8) {
	name, peers = packed, inRust
	if code >= 0xc0000000 {
		peers |= inBreakpad
	}
	if s, ok := strings.CutSuffix(name, "!"); ok {
		name, peers = s, inRust
	} else if s, ok := strings.CutSuffix(name, "?"); ok {
		name, peers = s, 0
	}
	if s, ok := strings.CutPrefix(name, "="); ok {
		return s, peers
	}
	return n.prefix + name, peers
}
