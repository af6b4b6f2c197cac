package cpu

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ContextLayout is one kind of context record: where a thread's registers are in it. Above each is
// where it is defined: the structure of Windows' winnt.h, that of Breakpad's header
// (src/google_breakpad/common, as of 2024), and the line of minidump-common 0.26.1's format.rs.
type ContextLayout struct {
	Arch *Arch
	What string // in errors, if it is not the CPU's name
	// Usual is the processor number whose threads usually have this record, if it is not the CPU's
	// first. A record without any CPU flag is only taken to be the usual one.
	Usual uint16
	// Flag is the bit of ContextFlags that marks the CPU, FlagsAt the offset of ContextFlags.
	// WideFlags: they have 64 bits.
	Flag      uint32
	FlagsAt   int
	WideFlags bool
	// CEFlag is the bit that marked the CPU in dumps of Windows CE; 0 for none.
	CEFlag uint32
	// Size is the record's in bytes. A larger one is fine if XState says that a CPU with extended
	// state (XSTATE) appends it.
	Size   int
	XState bool
	// Short: it lacks the end that the CPU's records have. The peers do not read such a record.
	Short bool
	// Lines are the record's parts, a line each: the offset of the first register, the size of each
	// in bytes, and their names (a list for expand), which follow each other. A size of "10/16" is
	// one of 10 bytes, every 16 bytes. A name of "_" is a gap that carries nothing.
	Lines string

	once   sync.Once
	fields []Field
}

// Field is one register of a context record: its name, its offset, its size in bytes. Reg is NoReg
// where it plays no part in unwinding. A Name of "_" is padding or reserved.
type Field struct {
	Name string
	Off  int
	Size int
	Reg  Reg
}

// Fields returns the record's registers one by one. They are made at the first call.
func (l *ContextLayout) Fields() []Field {
	l.once.Do(func() {
		l.fields = Fields(l.Lines)
		for i := range l.fields {
			if r := slices.Index(l.Arch.Names, l.fields[i].Name); r >= 0 {
				l.fields[i].Reg = Reg(r)
			}
		}
	})
	return l.fields
}

// Fields returns the registers in the parts of a record, see ContextLayout.Lines, without their
// numbers.
func Fields(lines string) []Field {
	var out []Field
	for _, line := range strings.Split(lines, "\n") {
		words := strings.Fields(line)
		if len(words) < 3 {
			continue
		}
		at, _ := strconv.Atoi(words[0])
		width, each, _ := strings.Cut(words[1], "/")
		size, _ := strconv.Atoi(width)
		step, _ := strconv.Atoi(each)
		for _, list := range words[2:] {
			for _, name := range expand(list) {
				out = append(out, Field{name, at, size, NoReg})
				at += max(step, size)
			}
		}
	}
	return out
}

// Flags reads a record's ContextFlags, 0 if it has none.
func (l *ContextLayout) Flags(raw []byte, order binary.ByteOrder) uint32 {
	switch {
	case len(raw) < l.FlagsAt+l.FlagsSize():
		return 0
	case l.WideFlags:
		return uint32(order.Uint64(raw[l.FlagsAt:]))
	}
	return order.Uint32(raw[l.FlagsAt:])
}

// FlagsSize returns the size of ContextFlags in bytes.
func (l *ContextLayout) FlagsSize() int {
	if l.WideFlags {
		return 8
	}
	return 4
}
