package report

import (
	"fmt"
	"strings"
)

// MemoryView is memory from an address on, in rows.
type MemoryView struct {
	Start uint64
	Rows  []MemoryRow
	// WordSize is the size of the process's words in bytes.
	WordSize int
}

// MemoryRow is up to 16 bytes of memory at an address. From is where the bytes are from: "dump", the
// name of a program's file, or "" if neither has them; Bytes is then empty. Words are the words of
// the row, in order.
//
// In a MemoryPart a row may also be memory that is not there: Gap bytes from Address on, without Bytes.
// The first Skip bytes of a row belong to what is before it.
type MemoryRow struct {
	Address uint64
	Skip    int
	Gap     uint64
	Bytes   []byte
	From    string
	Words   []MemoryWord
}

// MemoryWord is a word of memory and what it points to.
type MemoryWord struct {
	Address, Value uint64
	Points         Pointee
}

// MemoryPart is a window of the rows of all memory that is there, with a row for each gap. A list of
// rows has at most MemoryRows of them; Earlier and Later are addresses in the lists before and after
// this one, or 0.
type MemoryPart struct {
	Address        uint64 // what is selected
	Selected       int    // number of its row in the list
	From, Total    int    // of the list: the window's first row, all rows
	Rows           []MemoryRow
	Earlier, Later uint64
	WordSize       int
}

// MemoryRows is the most rows of a MemoryPart's list: browsers do not scroll much higher elements.
const MemoryRows = 1 << 18

// Pointee is what an address is in.
type Pointee struct {
	Place Place // a module, or one with a function; Module is -1 elsewhere
	// Thread and Frame: the address is in the stack of a thread, and in the memory of a frame. They are
	// -1 elsewhere.
	Thread, Frame int
	// Range is the range of the process's memory map, or nil.
	Range *MemoryRange
	// Text is the text that begins there, or "". It may be private.
	Text string
}

// Nothing reports whether an address is in nothing that is known.
func (p *Pointee) Nothing() bool {
	return p.Place.Module < 0 && p.Thread < 0 && p.Range == nil && p.Text == ""
}

// Words says what an address is in: "main + 0x1f", "stack of thread 3, frame 5", "heap, rw-".
func (p *Pointee) Words(r *Report, name func(Name) string) string {
	var parts []string
	switch {
	case p.Place.Module >= 0:
		parts = append(parts, p.Place.Text(r, name))
	case p.Thread >= 0 && p.Frame >= 0:
		parts = append(parts, fmt.Sprintf("stack of thread %d, frame %d", p.Thread, p.Frame))
	case p.Thread >= 0:
		parts = append(parts, fmt.Sprintf("stack of thread %d", p.Thread))
	case p.Range != nil:
		contents := p.Range.Contents
		switch {
		case contents == "" && p.Range.Access == "---":
			contents = "memory without access"
		case contents == "":
			contents = strings.TrimSpace(p.Range.State + " memory")
			if p.Range.State == inDump {
				contents = "memory " + inDump
			}
		}
		if parts = append(parts, contents); p.Range.Access != "" {
			parts = append(parts, p.Range.Access)
		}
	}
	if p.Text != "" {
		parts = append(parts, fmt.Sprintf("%q", p.Text))
	}
	return strings.Join(parts, ", ")
}

// Nowhere is an address that is in nothing that is known.
func Nowhere() Pointee { return Pointee{Place: Place{Module: -1}, Thread: -1, Frame: -1} }
