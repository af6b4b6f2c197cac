package dwarfcfi_test

import (
	"encoding/binary"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dwarfcfi"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// The sections of these tests are put together byte by byte from the tables of the specifications,
// by code that knows nothing of the reader.

// asm is bytes being written.
type asm struct {
	order binary.ByteOrder
	b     []byte
}

func (a *asm) raw(b ...byte) *asm { a.b = append(a.b, b...); return a }

func (a *asm) num(v uint64, size int) *asm {
	p := make([]byte, 8)
	if a.order == binary.BigEndian {
		binary.BigEndian.PutUint64(p, v)
		return a.raw(p[8-size:]...)
	}
	binary.LittleEndian.PutUint64(p, v)
	return a.raw(p[:size]...)
}

func uleb(v uint64) []byte { return binary.AppendUvarint(nil, v) }

func sleb(v int64) []byte {
	var b []byte
	for {
		low := byte(v & 127)
		v >>= 7
		if v == 0 && low < 64 || v == -1 && low >= 64 {
			return append(b, low)
		}
		b = append(b, low|128)
	}
}

func cat(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// form is a way to write a section: all of it has to mean the same.
type form struct {
	arch    *cpu.Arch
	order   binary.ByteOrder
	wide    bool // 64-bit DWARF
	longID  bool // .eh_frame's CIE field with 8 bytes in the 64-bit form
	debug   bool // .debug_frame
	version byte
	segment int
	aug     string
	augData []byte // of the CIE, without its length
	fdeAug  []byte
	enc     byte // of pointers; written by ptr
	code    uint64
	data    int64
	ra      uint64
	init    []byte
}

func (f form) word() int { return f.arch.WordSize }

const secAddr = 0x9000 // where the sections are linked

// builder writes a section in a form.
type builder struct {
	form
	asm
	cieAt int
}

func (f form) build() *builder {
	b := &builder{form: f, asm: asm{order: f.order}}
	b.cie()
	return b
}

// entry writes one entry; body gets the section's offset at which it begins.
func (b *builder) entry(field func(at int) uint64, body func(at int) []byte) int {
	off := len(b.b)
	size := 4
	if b.wide {
		if b.debug || b.longID {
			size = 8
		}
		b.num(0xffffffff, 4)
	}
	lengthAt := len(b.b)
	lengthSize := 4
	if b.wide {
		lengthSize = 8
	}
	b.num(0, lengthSize)
	from := len(b.b)
	b.num(field(from), size)
	b.raw(body(len(b.b))...)
	for (len(b.b)-from)%4 != 0 {
		b.raw(0) // nop
	}
	length := asm{order: b.asm.order}
	length.num(uint64(len(b.b)-from), lengthSize)
	copy(b.b[lengthAt:], length.b)
	return off
}

func (b *builder) cie() {
	b.cieAt = b.entry(func(int) uint64 {
		switch {
		case !b.debug:
			return 0
		case b.wide:
			return 1<<64 - 1
		}
		return 0xffffffff
	}, func(int) []byte {
		a := asm{order: b.asm.order}
		a.raw(b.version).raw([]byte(b.aug)...).raw(0)
		if b.version == 4 {
			a.raw(byte(b.word()), byte(b.segment))
		}
		if len(b.aug) > 1 && b.aug[:2] == "eh" {
			a.num(0x1234, b.word())
		}
		a.raw(uleb(b.code)...).raw(sleb(b.data)...)
		if b.version == 1 {
			a.raw(byte(b.ra))
		} else {
			a.raw(uleb(b.ra)...)
		}
		if len(b.aug) > 0 && b.aug[0] == 'z' {
			a.raw(uleb(uint64(len(b.augData)))...)
		}
		a.raw(b.augData...)
		a.raw(b.init...)
		return a.b
	})
}

// ptr writes an address in the form's encoding, for a place of the section.
func (b *builder) ptr(a *asm, v uint64, at int) {
	switch b.enc & 0x70 {
	case 0x10:
		v -= secAddr + uint64(at)
	case 0x20:
		v -= 0x100 // text
	case 0x30:
		v -= 0x300 // got
	case 0x50:
		for (secAddr+at)%b.word() != 0 {
			a.raw(0)
			at++
		}
	}
	b.plain(a, v)
}

func (b *builder) plain(a *asm, v uint64) {
	switch b.enc & 0x0f {
	case 1:
		a.raw(uleb(v)...)
	case 9:
		a.raw(sleb(int64(v))...)
	case 2, 10:
		a.num(v, 2)
	case 3, 11:
		a.num(v, 4)
	case 4, 12:
		a.num(v, 8)
	default:
		a.num(v, b.word())
	}
}

// fde writes the entry of a function.
func (b *builder) fde(start, size uint64, code ...[]byte) int {
	return b.entry(func(at int) uint64 {
		if b.debug {
			return uint64(b.cieAt)
		}
		return uint64(at - b.cieAt)
	}, func(at int) []byte {
		a := asm{order: b.asm.order}
		if b.segment > 0 {
			a.num(0, b.segment)
		}
		b.ptr(&a, start, at+len(a.b))
		b.plain(&a, size)
		if len(b.aug) > 0 && b.aug[0] == 'z' {
			a.raw(uleb(uint64(len(b.fdeAug)))...).raw(b.fdeAug...)
		}
		a.raw(cat(code...)...)
		return a.b
	})
}

func (b *builder) config() dwarfcfi.Config {
	return dwarfcfi.Config{Arch: b.arch, Order: b.asm.order, AddressSize: b.word(), File: "made.so", Text: 0x100, Got: 0x300}
}

func (b *builder) open(t testing.TB) unwind.Table {
	t.Helper()
	var tab unwind.Table
	var err error
	if b.debug {
		tab, err = dwarfcfi.DebugFrame(input.FromBytes("made.so", b.b), b.config())
	} else {
		tab, err = dwarfcfi.EHFrame(input.FromBytes("made.so", b.b), secAddr, nil, 0, b.config())
	}
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// hdr writes the search table of an .eh_frame that is linked at secAddr, itself linked at hdrAddr.
const hdrAddr = 0x8000

type pair struct {
	start uint64
	off   int
}

func (f form) hdr(enc byte, pairs []pair) []byte {
	a := asm{order: f.order}
	a.raw(1, 0x1b, 0x03, enc)
	a.num(secAddr-(hdrAddr+4), 4)
	a.num(uint64(len(pairs)), 4)
	for _, p := range pairs {
		for _, v := range []uint64{p.start, secAddr + uint64(p.off)} {
			switch enc & 0x70 {
			case 0x30:
				v -= hdrAddr
			case 0x10:
				v -= hdrAddr + uint64(len(a.b))
			}
			switch enc & 0x0f {
			case 2, 10:
				a.num(v, 2)
			case 3, 11:
				a.num(v, 4)
			case 4, 12:
				a.num(v, 8)
			default:
				a.num(v, f.word())
			}
		}
	}
	return a.b
}

// amd64Form is the plainest: what gcc writes for amd64, but for addresses, which are absolute.
var amd64Form = form{arch: cpu.AMD64, order: binary.LittleEndian, version: 1, code: 1, data: -8, ra: 16,
	init: []byte{0x0c, 7, 8, 0x80 | 16, 1}}

// at says in words what the rules at an address are, or why there are none.
func at(t testing.TB, tab unwind.Table, a *cpu.Arch, rva uint64) string {
	t.Helper()
	row, ok, err := tab.Row(rva)
	switch {
	case err != nil:
		return "error: " + err.Error()
	case !ok && row.Origin.Note != "":
		return "none: " + row.Origin.Note
	case !ok:
		return "none"
	}
	return row.Describe(a)
}
