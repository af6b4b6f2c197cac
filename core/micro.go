package core

import (
	"encoding/binary"

	"github.com/crashpane/crashpane/core/input"
)

// Micro is what only a microdump says; package core/microdump reads it. A Dump that was read from a
// minidump has none.
type Micro struct {
	// FirstLine and LastLine are its first and last line in the log, counted from 1; Size is that
	// part of the log in bytes.
	FirstLine, LastLine int
	Size                int64
	// Complete: its last line is there.
	Complete bool

	Product     string // "AndroidWebView:62.0.3188.0", or ""
	ProcessType string // "webview", or ""
	Arch        string // as written: "arm", "arm64", "mips64", "x86", "x86_64", …
	Hardware    string // the machine's own word (uname -m), which may differ: "armv8l"
	// Fingerprint is Android's build fingerprint, else the kernel's release and version.
	Fingerprint string
	// GPU is nil if the writer knew none.
	GPU *GPU
	// Signal is the signal's name, "SIGSEGV"; "" if the microdump does not say why the process
	// crashed, as older ones do not.
	Signal string
	// Stack is what the stack's header promises; nil if it is missing.
	Stack *MicroStack
	// ModuleOffsets are the offsets of Dump.Modules in their files, in bytes: not 0 for a library
	// inside an APK.
	ModuleOffsets []uint64
	// Space is what is free of the address space; nil if the writer did not say (it does on 32-bit
	// processors).
	Space *AddressSpace
}

// GPU is the graphics driver's description of itself (glGetString).
type GPU struct{ Version, Vendor, Renderer string }

// MicroStack is the header of a microdump's stack: the stack pointer, and the address and size in
// bytes of what was copied.
type MicroStack struct{ Pointer, Start, Size uint64 }

// AddressSpace is a summary of the gaps between mappings. Low is the lowest mapping's address, High
// the highest's end; sizes are in bytes.
type AddressSpace struct {
	Low, High    uint64
	Gaps         uint32
	Largest, Sum uint64
	// BySize counts the gaps whose size has its highest bit at the given place.
	BySize []GapCount
}

// GapCount is how many gaps are of 2^Bit bytes or more, and less than twice that.
type GapCount struct{ Bit, Count uint8 }

// Complete makes a Dump ready that was filled in by the reader of another format. Src holds the
// decoded bytes (contexts, memory); all Locations point into it. memory are the regions that hold
// memory, as the memory list of a minidump names them. Modules get their ids from their CodeView
// records.
func (d *Dump) Complete(order binary.ByteOrder, memory []Region) {
	d.Header.Order = order
	d.Memory = newMemory(d)
	for i := range memory {
		if r := memory[i]; d.checkRegion(StreamMemoryList, -1, &r) {
			d.Memory.list = append(d.Memory.list, r)
		}
	}
	d.Memory.build()
	d.AddModules(nil)
}

// AddModules adds modules that the reader of another format found in the memory, and gives all modules
// their ids.
func (d *Dump) AddModules(more []Module) {
	d.Modules = append(d.Modules, more...)
	for i := range d.Modules {
		m := &d.Modules[i]
		m.os, m.big = d.OS(), d.Header.Order == binary.ByteOrder(binary.BigEndian)
		m.identify()
	}
}

// AddDiagnostic keeps a finding of the reader of another format, bounded as those of this package
// are.
func (d *Dump) AddDiagnostic(sev Severity, err *input.FormatError) { d.diagnose(sev, 0, err) }
