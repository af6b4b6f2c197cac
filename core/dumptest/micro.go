package dumptest

import (
	"fmt"
	"strings"
)

// Micro is a microdump, text as Breakpad's microdump_writer.cc logs it. Empty fields are absent
// from the log, unless the writer has a word for "unknown".
type Micro struct {
	Product, Process, GPU string
	OS, Arch              string // "A", "arm"
	CPUs                  uint8
	Hardware, Fingerprint string
	Signal                uint32
	SignalName            string // "" for a writer that does not say why, as older ones
	Address               uint64
	Wide                  bool // 64-bit numbers
	SP, StackStart        uint64
	Stack                 []byte
	Context               []byte
	Modules               []MicroModule
	Gaps                  string // the text of the H record, or ""
}

// MicroModule is an M record. ID has 33 digits.
type MicroModule struct {
	Base, Offset, Size uint64
	ID, Name           string
}

// microChunk is how many bytes of the stack are in a line.
const microChunk = 384

// Lines returns the microdump's lines, without the prefixes and endings of a log.
//
// The stack is in lines of 384 bytes, since a line of Android's log has a limit. Numbers have 8
// digits, or 16 if Wide.
func (m Micro) Lines() []string {
	out := []string{"-----BEGIN BREAKPAD MICRODUMP-----"}
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	num := func(v uint64) string {
		if m.Wide {
			return fmt.Sprintf("%016X", v)
		}
		return fmt.Sprintf("%08X", v)
	}
	or := func(s, unknown string) string {
		if s == "" {
			return unknown
		}
		return s
	}
	add("V %s", or(m.Product, "UNKNOWN:0.0.0.0"))
	add("O %s %s %02X %s %s", m.OS, m.Arch, m.CPUs, m.Hardware, m.Fingerprint)
	add("P %s", or(m.Process, "UNKNOWN"))
	if m.SignalName != "" {
		add("R %08X %s %s", m.Signal, m.SignalName, num(m.Address))
	}
	add("G %s", or(m.GPU, "UNKNOWN"))
	if m.Gaps != "" {
		add("H %s", m.Gaps)
	}
	if m.Stack != nil {
		add("S 0 %s %s %s", num(m.SP), num(m.StackStart), num(uint64(len(m.Stack))))
		for off := 0; off < len(m.Stack); off += microChunk {
			add("S %s %X", num(m.StackStart+uint64(off)), m.Stack[off:min(off+microChunk, len(m.Stack))])
		}
	}
	if m.Context != nil {
		add("C %X", m.Context)
	}
	for _, d := range m.Modules {
		add("M %s %s %s %s %s", num(d.Base), num(d.Offset), num(d.Size), d.ID, d.Name)
	}
	add("-----END BREAKPAD MICRODUMP-----")
	return out
}

// Log returns the microdump in a log, each line with a prefix and an ending.
func (m Micro) Log(prefix, ending string) string {
	var b strings.Builder
	for _, line := range m.Lines() {
		b.WriteString(prefix + line + ending)
	}
	return b.String()
}
