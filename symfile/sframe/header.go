// Package sframe reads SFrame sections: per function a list of rows that say where the canonical frame address (CFA), the return
// address (RA) and the frame pointer (FP) are, and nothing of other registers.
//
// The specification is "The SFrame Format", version 2 errata 1; what the other versions have otherwise:
//
//	version 1  functions take 17 bytes: the size of a repeated block is not there; starts count from the section's start
//	version 3  functions take 16 bytes, and their attributes lie before their rows; starts have 64 bits; signal frames are marked;
//	           functions may be "flexible", whose rows name any register as a base and may read the word there
//
// Numbers that the text only names are those of binutils' include/sframe.h.
package sframe

import (
	"encoding/binary"
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
)

// Where an ELF file has its SFrame section (specification, 1.1): a section of this name or type, or what a segment of this type
// covers, which is there in a stripped file too. Old binutils give the section the type SHT_PROGBITS, so the name is asked
// for as well.
const (
	SectionName = ".sframe"
	SectionType = 0x6ffffff4 // SHT_GNU_SFRAME
	SegmentType = 0x6474e554 // PT_GNU_SFRAME
)

// magic starts a section in the byte order of its CPU.
const magic = 0xdee2

// Flags hold for the whole section.
type Flags uint8

const (
	// Sorted: functions are ordered by address.
	Sorted Flags = 1 << iota
	// FramePointer: every function keeps a frame pointer, also those without an entry. Versions 1 and 2.
	FramePointer
	// StartFromField: a function's start counts from where that number stands, else from the section's start. From version 2.
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

// Header is what a section says of itself.
type Header struct {
	// Version is 1, 2 or 3.
	Version uint8
	Flags   Flags
	ABI     ABI
	// Order is the section's byte order, as the magic number shows it.
	Order binary.ByteOrder
	// FixedFP and FixedRA are the distances in bytes from the CFA at which every function of the section keeps the caller's frame
	// pointer and its return address; 0 if there is no such place.
	FixedFP, FixedRA int8
	// AuxSize is the size in bytes of the auxiliary header, which no ABI uses.
	AuxSize uint8
	// Functions and Rows are how many the section claims to have, RowBytes the size of all rows in bytes.
	Functions, Rows, RowBytes uint32
	// FunctionsAt and RowsAt are the offsets in bytes of the two sub-sections, from the section's start.
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

// ReadHeader reads the header alone. An error is a *input.FormatError, or one of the reader's.
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

// functionSize is the size of a function's entry in bytes.
func (h *Header) functionSize() int64 {
	return [...]int64{1: 17, 2: 20, 3: 16}[h.Version]
}

// known are the flags that the version defines.
func (h *Header) known() Flags {
	return [...]Flags{1: Sorted | FramePointer, 2: Sorted | FramePointer | StartFromField, 3: Sorted | StartFromField}[h.Version]
}

// arch is the ABI's CPU and byte order; nil for an unknown ABI.
func (a ABI) arch() (*cpu.Arch, binary.ByteOrder) {
	arch, big := cpu.BySFrame(uint8(a))
	if big {
		return arch, binary.BigEndian
	}
	return arch, binary.LittleEndian
}

// sections checks that the functions lie inside of the section and before the rows.
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
