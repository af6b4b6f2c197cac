package cpu

import (
	"encoding/binary"
	"slices"
)

// ELF is what the readers of ELF files have to know about a CPU, for all of its e_machine numbers.
type ELF struct {
	// CPU is the name of one that the table is for; its ELFMachines are the numbers. A name, and no
	// pointer: tables that only need what the compiler knows are not initialized when a program
	// starts, so that the linker can leave them out.
	CPU string
	// Relocations are those that compilers write into debug sections and unwind tables. Sources:
	// the processor supplements of the System V ABI, each its table of relocation types.
	Relocations []Relocation
	// Slots are the relocations that fill the pointers through which imported functions are called
	// (GLOB_DAT and JUMP_SLOT, the latter last).
	Slots []uint32
	// Stubs finds PLT stubs. What it takes for one by accident has no slot and is dropped.
	// StubsInText: linkers put them into .text.
	Stubs       func(p *PLT, found func(Stub))
	StubsInText bool
	// SlotsAreStubs: the loader writes into the stubs themselves. Glink: they are branches into
	// .glink, with descriptors of functions (powerpc64).
	SlotsAreStubs, Glink bool
	// MappingSymbols: symbols such as $a, $x, $d and _ftext mark code and data, and name no
	// function.
	MappingSymbols bool
	// WideHash: the entries of DT_HASH have 8 bytes in 64-bit files.
	WideHash bool
	// TripleTypes: a 64-bit relocation record has three types. TypeMask are the bits of a type that
	// tell it, if others are data; 0 for all.
	TripleTypes bool
	TypeMask    uint32
	// ThumbSymbols: the lowest bit of a function's address says that it has another instruction
	// set: of every symbol with a type, or (MIPS16, microMIPS) of those whose st_other says so.
	ThumbSymbols, OtherISA bool
}

// ELFOf returns the facts of an e_machine number, or an empty ELF for an unknown one.
func ELFOf(machine uint16) *ELF {
	for _, e := range elfs {
		if machine != 0 && slices.Contains(ByName(e.CPU).ELFMachines[:], machine) {
			return e
		}
	}
	return &ELF{}
}

// PLT is a section of code that stubs are looked for in.
type PLT struct {
	Code []byte
	// Address is that of the first byte.
	Address uint64
	// Order is the file's byte order, Flags its e_flags, Table the address that DT_PLTGOT has, or
	// 0.
	Order binary.ByteOrder
	Flags uint32
	Table uint64
}

// Stub is a piece of code that jumps to what a slot holds. Size 0 reaches to the next stub.
type Stub struct{ At, Size, Slot uint64 }

// Relocation is one type of relocation: what is computed, into how many bytes.
type Relocation struct {
	Type uint32
	Form RelocationForm
	Size uint8
}

// RelocationForm is what a relocation computes: S is the symbol's value, A the addend, P the
// address of the place.
type RelocationForm uint8

const (
	Absolute   RelocationForm = iota // S + A
	Relative                         // S + A − P
	Relative31                       // S + A − P in the low 31 bits
	AddTo                            // place + S + A
	SubFrom                          // place − (S + A)
	SubFrom6                         // the low 6 bits: place − (S + A)
	Set6                             // the low 6 bits: S + A
	SetULEB                          // S + A as a ULEB128 of the place's length
	SubULEB                          // the place's ULEB128 − (S + A)
	AddULEB                          // the place's ULEB128 + (S + A)
	AddTo6                           // the low 6 bits: place + S + A
)

// le32 reads an instruction of a CPU whose code is little-endian whatever its data is.
func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
