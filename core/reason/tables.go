package reason

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"sort"
)

//go:generate go run ./internal/gen

// table is one of the small tables of codes: signals, exceptions, fast-fail codes …
type table uint8

// entry is a code of a small table.
type entry struct {
	table table
	code  uint32
	name  string // "" if it has none
	text  string // what the process did, or ""
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

// names is a table of thousands of codes, packed so that the program needs no pointers and offsets
// for them. A lookup scans it, which takes microseconds and happens a few times for a dump.
type names struct {
	// prefix is added to every name that does not begin with '='.
	prefix string
	// packed has, for each code in ascending order, the difference to the code before as an unsigned
	// varint, the name, and '\n'.
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

// lookup returns the name of a code, or "".
func (n *names) lookup(code uint32) string {
	have := uint64(0)
	for rest := n.packed; len(rest) > 0 && have <= uint64(code); {
		diff, size := binary.Uvarint(rest)
		have += diff
		packed, after, _ := bytes.Cut(rest[size:], []byte{'\n'})
		if have == uint64(code) {
			if s, ok := bytes.CutPrefix(packed, []byte{'='}); ok {
				return string(s)
			}
			return n.prefix + string(packed)
		}
		rest = after
	}
	return ""
}
