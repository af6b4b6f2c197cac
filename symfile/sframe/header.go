// Package sframe reads SFrame sections, versions 1 to 3. A section has a list of rows for each
// function: how to find the canonical frame address (CFA), the return address (RA) and the frame
// pointer (FP). It has nothing about other registers.
//
// Open opens a section as an unwind.Table. Start at table.Row in table.go: it finds the function
// (function.go) and its row (entry.go), and makes an unwind.Row of it (rules.go).
//
// Specification: "The SFrame Format", version 2 errata 1; section numbers in comments are of that
// text. The other versions differ:
//
//	version 1  no size of a repeated block; starts are relative to the section
//	version 3  attributes of a function are before its rows; starts have 64 bits; signal frames are marked; rows of a "flexible"
//	           function may use any register as a base and may read the word there
//
// Constants that the text only names have the values of binutils' include/sframe.h.
package sframe

import (
	"encoding/binary"
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
)

// How to find SFrame in an ELF file (specification, 1.1): a section of this type, or a segment of
// this type, which a file without section headers has too. Older binutils give the section the type
// SHT_PROGBITS, so that its name is needed.
const (
	SectionName = ".sframe"
	SectionType = 0x6ffffff4 // SHT_GNU_SFRAME
	SegmentType = 0x6474e554 // PT_GNU_SFRAME
)

// magic begins a section, in the byte order of its CPU.
const magic = 0xdee2

// Flags hold for the whole section.
type Flags uint8

const (
	// Sorted (SFRAME_F_FDE_SORTED): functions are sorted by address.
	Sorted Flags = 1 << iota
	// FramePointer (SFRAME_F_FRAME_POINTER): every function keeps a frame pointer, also those
	// without an entry. Versions 1 and 2.
	FramePointer
	// StartFromField (SFRAME_F_FDE_FUNC_START_PCREL): a function's start is relative to the field
	// that has it, else to the section's start. Since version 2.
	StartFromField
)

// ABI is the CPU and byte order that a section is for.
type ABI uint8

const (
	ARM64Big ABI = 1 + iota
	ARM64Little
	AMD64Little
	S390XBig
)

// Header is the header of a section (2.1, 2.2).
//
//	magic 2 | version 1 | flags 1 | ABI 1 | fixed FP 1 | fixed RA 1 | size of the auxiliary header 1
//	functions 4 | rows 4 | bytes of rows 4 | offset of functions 4 | offset of rows 4 | auxiliary header
type Header struct {
	// Version is 1, 2 or 3.
	Version uint8
	Flags   Flags
	ABI     ABI
	// Order is the section's byte order, found by the magic number.
	Order binary.ByteOrder
	// FixedFP and FixedRA are the offsets in bytes from the CFA at which every function saves the
	// caller's frame pointer and its return address, or 0 if that differs between rows.
	FixedFP, FixedRA int8
	// AuxSize is the size in bytes of the auxiliary header, which no ABI uses.
	AuxSize uint8
	// Functions and Rows are the claimed numbers of entries, RowBytes the claimed size of all rows
	// in bytes.
	Functions, Rows, RowBytes uint32
	// FunctionsAt and RowsAt are the section offsets of the two sub-sections.
	FunctionsAt, RowsAt int64
}

const headerSize = 28

// Offsets of the header's fields that messages name.
const (
	atVersion = 2
	atFlags   = 3
	atABI     = 4
	atFixedRA = 6
	atRows    = 16
)

// ReadHeader reads the header of a section. Errors are of type *input.FormatError, or come from the
// file's reader.
func ReadHeader(section *input.Source) (Header, error) {
	var h Header
	c := input.NewCursor(section, SectionName, 0, section.Size, binary.LittleEndian)
	switch m := c.U16(); {
	case m == magic:
		h.Order = binary.LittleEndian
	case m == magic>>8|magic&0xff<<8:
		h.Order = binary.BigEndian
	default:
		c.FailAt(0, fmt.Sprintf("SFrame's magic number 0x%04x in either byte order", magic), fmt.Sprintf("0x%04x", m))
	}
	c.Order = h.Order
	if h.Order == nil {
		return h, c.Err()
	}
	h.Version = c.U8()
	if h.Version < 1 || h.Version > 3 {
		c.FailAt(atVersion, "SFrame version 1, 2 or 3", fmt.Sprintf("version %d", h.Version))
	}
	h.Flags = Flags(c.U8())
	h.ABI = ABI(c.U8())
	h.FixedFP, h.FixedRA = int8(c.U8()), int8(c.U8())
	h.AuxSize = c.U8()
	h.Functions, h.Rows, h.RowBytes = c.U32(), c.U32(), c.U32()
	// "relative to the end of the SFrame header", which is that of the auxiliary header (2.2).
	end := int64(headerSize) + int64(h.AuxSize)
	h.FunctionsAt, h.RowsAt = end+int64(c.U32()), end+int64(c.U32())
	c.Skip(int64(h.AuxSize))
	return h, c.Err()
}

// functionSize returns the size in bytes of a function descriptor entry.
func (h *Header) functionSize() int64 {
	return [...]int64{1: 17, 2: 20, 3: 16}[h.Version]
}

// known returns the flags that the version defines.
func (h *Header) known() Flags {
	return [...]Flags{1: Sorted | FramePointer, 2: Sorted | FramePointer | StartFromField, 3: Sorted | StartFromField}[h.Version]
}

// arch returns the ABI's CPU and byte order, or nil for an unknown ABI.
func (a ABI) arch() (*cpu.Arch, binary.ByteOrder) {
	arch, big := cpu.BySFrame(uint8(a))
	if big {
		return arch, binary.BigEndian
	}
	return arch, binary.LittleEndian
}

// sections checks that the functions are inside the section and before the rows.
func (h *Header) sections(section *input.Source) error {
	size := int64(h.Functions) * h.functionSize()
	wrong := &input.FormatError{File: section.Name, Part: SectionName, Offset: h.FunctionsAt,
		Want: fmt.Sprintf("room for %d functions of %d bytes each", h.Functions, h.functionSize())}
	switch end := h.FunctionsAt + size; {
	case end > section.Size:
		wrong.Have = fmt.Sprintf("%d bytes to the end of the section", max(0, section.Size-h.FunctionsAt))
	case end > h.RowsAt && h.Functions > 0:
		wrong.Have = fmt.Sprintf("rows from offset 0x%x on", h.RowsAt)
	default:
		return nil
	}
	return wrong
}
