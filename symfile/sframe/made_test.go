package sframe

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// A writer of SFrame sections, from the text of the specification and without the reader's
// constants, so that a layout that is wrong there does not read what is wrong here. Every row says
// in words what it means.

// madeRow is a frame row entry. words are written as they stand, size bytes each (1, 2 or 4).
type madeRow struct {
	at     uint32
	sp     bool
	words  []int64
	size   int
	signed bool
	means  string
}

// madeFunc is a function. addr is the size in bytes of its rows' start addresses.
type madeFunc struct {
	start uint64
	size  uint32
	addr  int
	mask  bool
	rep   byte
	keyB  bool
	// flex and signal are of version 3; extra are bits for the info byte that nobody defined, pad
	// for the unused bytes.
	flex, signal bool
	extra        byte
	pad          uint16
	rows         []madeRow
}

type madeSection struct {
	name     string
	says     string // what the file is for
	order    binary.AppendByteOrder
	version  byte
	flags    byte
	abi      byte
	fp, ra   int8
	aux      []byte
	gap      int // unused bytes between functions and rows
	address  uint64
	funcs    []madeFunc
	warnings []string
	// others are addresses outside every function, and the answers for them.
	others map[uint64]string
}

func (r *madeRow) append(b []byte, order binary.AppendByteOrder, addr int) []byte {
	number := func(v int64, size int) {
		switch size {
		case 1:
			b = append(b, byte(v))
		case 2:
			b = order.AppendUint16(b, uint16(v))
		default:
			b = order.AppendUint32(b, uint32(v))
		}
	}
	number(int64(r.at), addr)
	info := byte(len(r.words)) << 1
	if r.sp {
		info |= 0x01
	}
	switch r.size {
	case 2:
		info |= 0x20
	case 4:
		info |= 0x40
	}
	if r.signed {
		info |= 0x80
	}
	b = append(b, info)
	for _, w := range r.words {
		number(w, max(r.size, 1))
	}
	return b
}

// bytes is the section.
func (s *madeSection) bytes() []byte {
	var rows []byte
	var at []uint32 // of each function's rows
	count := 0
	entry := map[byte]int{1: 17, 2: 20, 3: 16}[s.version]
	info := func(f *madeFunc) byte {
		b := map[int]byte{1: 0, 2: 1, 4: 2}[f.addr] | f.extra
		if f.mask {
			b |= 0x10
		}
		if f.keyB {
			b |= 0x20
		}
		if f.signal {
			b |= 0x80
		}
		return b
	}
	for i := range s.funcs {
		f := &s.funcs[i]
		at = append(at, uint32(len(rows)))
		if s.version == 3 {
			kind := byte(0)
			if f.flex {
				kind = 1
			}
			rows = append(s.order.AppendUint16(rows, uint16(len(f.rows))), info(f), kind, f.rep)
		}
		for j := range f.rows {
			rows = f.rows[j].append(rows, s.order, f.addr)
			count++
		}
	}
	b := s.order.AppendUint16(nil, 0xdee2)
	b = append(b, s.version, s.flags, s.abi, byte(s.fp), byte(s.ra), byte(len(s.aux)))
	for _, v := range []int{len(s.funcs), count, len(rows), 0, len(s.funcs)*entry + s.gap} {
		b = s.order.AppendUint32(b, uint32(v))
	}
	b = append(b, s.aux...)
	for i, f := range s.funcs {
		start := int64(f.start) - int64(s.address)
		if s.flags&0x04 != 0 && s.version > 1 {
			start -= int64(len(b))
		}
		if s.version == 3 {
			b = s.order.AppendUint64(b, uint64(start))
			b = s.order.AppendUint32(b, f.size)
			b = s.order.AppendUint32(b, at[i])
			continue
		}
		b = s.order.AppendUint32(b, uint32(start))
		b = s.order.AppendUint32(b, f.size)
		b = s.order.AppendUint32(b, at[i])
		b = s.order.AppendUint32(b, uint32(len(f.rows)))
		b = append(b, info(&f))
		if s.version == 2 {
			b = append(b, f.rep, byte(f.pad>>8), byte(f.pad))
		}
	}
	b = append(b, make([]byte, s.gap)...)
	return append(b, rows...)
}

// rangeText is one line of a golden.
func rangeText(start, end uint64, means string) string {
	return fmt.Sprintf("%x-%x %s\n", start, end, means)
}

// want is what a reader must say about the section, by address.
func (s *madeSection) want() string {
	var b strings.Builder
	done := make([]bool, len(s.funcs))
	for range s.funcs {
		next := -1
		for i := range s.funcs {
			if !done[i] && (next < 0 || s.funcs[i].start < s.funcs[next].start) {
				next = i
			}
		}
		done[next] = true
		b.WriteString(s.funcs[next].want())
	}
	return b.String()
}

func (f *madeFunc) want() string {
	text := ""
	length := f.size
	if f.mask {
		length = uint32(f.rep)
	}
	for at := uint32(0); at < f.size; at += length {
		for i, r := range f.rows {
			end := length
			if i+1 < len(f.rows) {
				end = f.rows[i+1].at
			}
			from, to := at+r.at, min(at+end, f.size)
			if len(f.rows) == 1 {
				to = f.size
			}
			if from < to {
				text += rangeText(f.start+uint64(from), f.start+uint64(to), r.means)
			}
		}
		if len(f.rows) == 1 {
			break
		}
	}
	return text
}

var little, big = binary.LittleEndian, binary.BigEndian

// made are the sections of testdata. What a row means is written as unwind.Row describes it.
var made = []*madeSection{{
	name: "s390x", says: "every form of a row for s390x: CFA in units of 8 above 160, RA and FP on the stack, unchanged, in registers",
	order: big, version: 2, flags: 0x05, abi: 4, address: 0x2000,
	funcs: []madeFunc{
		{start: 0x1000, size: 0x60, addr: 1, rows: []madeRow{
			{at: 0x00, sp: true, words: []int64{0}, means: "cfa = $r15 + 160, ra = $r14, $r11 = unchanged, $r15 = cfa − 160, other registers lost (topmost frame only)"},
			{at: 0x06, sp: true, words: []int64{0, -48}, means: "cfa = $r15 + 160, ra = [cfa − 48], $r11 = unchanged, $r15 = cfa − 160, other registers lost"},
			{at: 0x0c, sp: true, words: []int64{20, -48, -72}, means: "cfa = $r15 + 320, ra = [cfa − 48], $r11 = [cfa − 72], $r15 = cfa − 160, other registers lost"},
			{at: 0x12, words: []int64{20, -48, -72}, means: "cfa = $r11 + 320, ra = [cfa − 48], $r11 = [cfa − 72], $r15 = cfa − 160, other registers lost"},
			{at: 0x20, sp: true, words: []int64{127, -48, -72}, means: "cfa = $r15 + 1176, ra = [cfa − 48], $r11 = [cfa − 72], $r15 = cfa − 160, other registers lost"},
			{at: 0x26, sp: true, words: []int64{128, -48, -72}, size: 2, means: "cfa = $r15 + 1184, ra = [cfa − 48], $r11 = [cfa − 72], $r15 = cfa − 160, other registers lost"},
			{at: 0x2c, sp: true, words: []int64{100000, -48, -72}, size: 4, means: "cfa = $r15 + 800160, ra = [cfa − 48], $r11 = [cfa − 72], $r15 = cfa − 160, other registers lost"},
			{at: 0x34, sp: true, words: []int64{20, 0, -72}, means: "cfa = $r15 + 320, ra = $r14, $r11 = [cfa − 72], $r15 = cfa − 160, other registers lost (topmost frame only)"},
			{at: 0x40, sp: true, words: []int64{20, 0}, means: "cfa = $r15 + 320, ra = $r14, $r11 = unchanged, $r15 = cfa − 160, other registers lost (topmost frame only)"},
		}},
		{start: 0x1080, size: 0x20, addr: 1, rows: []madeRow{
			{at: 0x00, sp: true, words: []int64{0, 16<<1 | 1}, means: "cfa = $r15 + 160, ra = $f0, $r11 = unchanged, $r15 = cfa − 160, other registers lost (topmost frame only)"},
			{at: 0x04, sp: true, words: []int64{0, 16<<1 | 1, 17<<1 | 1}, means: "cfa = $r15 + 160, ra = $f0, $r11 = $f2, $r15 = cfa − 160, other registers lost (topmost frame only)"},
			{at: 0x08, words: []int64{0, -48, 31<<1 | 1}, means: "cfa = $r11 + 160, ra = [cfa − 48], $r11 = $f15, $r15 = cfa − 160, other registers lost"},
			{at: 0x0c, words: []int64{0, 1<<1 | 1, 28<<1 | 1}, size: 2, means: "cfa = $r11 + 160, ra = $r1, $r11 = $f9, $r15 = cfa − 160, other registers lost (topmost frame only)"},
			{at: 0x10, sp: true, words: []int64{0, 0, 6<<1 | 1}, size: 4, means: "cfa = $r15 + 160, ra = $r14, $r11 = $r6, $r15 = cfa − 160, other registers lost (topmost frame only)"},
			{at: 0x14, sp: true, words: []int64{0, 40<<1 | 1}, means: "cfa = $r15 + 160, ra = lost, $r11 = unchanged, $r15 = cfa − 160, other registers lost"},
			{at: 0x18, means: "cfa = lost, ra = lost, other registers lost"},
		}},
	},
	warnings: []string{"uses register 40"},
}, {
	name: "unsorted", says: "functions out of order, starts counted from the section's start, above and below it",
	order: little, version: 2, flags: 0x00, abi: 3, ra: -8, address: 0x5000,
	funcs: []madeFunc{
		{start: 0x7000, size: 0x10, addr: 1, rows: []madeRow{{sp: true, words: []int64{8}, means: "cfa = $rsp + 8, ra = [cfa − 8], $rbp = unchanged, other registers lost"}}},
		{start: 0x1000, size: 0x40, addr: 1, rows: []madeRow{
			{sp: true, words: []int64{8}, means: "cfa = $rsp + 8, ra = [cfa − 8], $rbp = unchanged, other registers lost"},
			{at: 1, sp: true, words: []int64{16, -16}, means: "cfa = $rsp + 16, ra = [cfa − 8], $rbp = [cfa − 16], other registers lost"},
			{at: 4, words: []int64{16, -16}, means: "cfa = $rbp + 16, ra = [cfa − 8], $rbp = [cfa − 16], other registers lost"},
			{at: 0x3f, sp: true, words: []int64{8, -16}, means: "cfa = $rsp + 8, ra = [cfa − 8], $rbp = [cfa − 16], other registers lost"}}},
		{start: 0x6000, size: 0x10, addr: 1, rows: []madeRow{{sp: true, words: []int64{24}, means: "cfa = $rsp + 24, ra = [cfa − 8], $rbp = unchanged, other registers lost"}}},
		{start: 0x1040, size: 0x10, addr: 1, rows: []madeRow{{sp: true, words: []int64{32}, means: "cfa = $rsp + 32, ra = [cfa − 8], $rbp = unchanged, other registers lost"}}},
	},
	others: map[uint64]string{0xfff: "", 0x1050: "", 0x5fff: "", 0x6010: "", 0x7010: ""},
}, {
	name: "auxiliary", says: "an auxiliary header of 12 bytes, from whose end the sub-sections count, and a gap between functions and rows",
	order: little, version: 2, flags: 0x05, abi: 3, ra: -8, aux: []byte("twelve bytes"), gap: 6, address: 0x3000,
	funcs: []madeFunc{
		{start: 0x1000, size: 0x10, addr: 1, rows: []madeRow{{sp: true, words: []int64{8}, means: "cfa = $rsp + 8, ra = [cfa − 8], $rbp = unchanged, other registers lost"}}},
		{start: 0x1010, size: 0x10, addr: 1, rows: []madeRow{{sp: true, words: []int64{16}, means: "cfa = $rsp + 16, ra = [cfa − 8], $rbp = unchanged, other registers lost"}}},
	},
}, {
	name: "repeated", says: "repeated blocks: a procedure linkage table of 16-byte entries that ends within a block, and one of 8-byte entries",
	order: little, version: 2, flags: 0x01, abi: 3, ra: -8, address: 0x3000,
	funcs: []madeFunc{
		{start: 0x1020, size: 0x38, addr: 1, mask: true, rep: 16, rows: []madeRow{
			{sp: true, words: []int64{8}, means: "cfa = $rsp + 8, ra = [cfa − 8], $rbp = unchanged, other registers lost"},
			{at: 11, sp: true, words: []int64{16}, means: "cfa = $rsp + 16, ra = [cfa − 8], $rbp = unchanged, other registers lost"}}},
		{start: 0x1060, size: 0x18, addr: 1, mask: true, rep: 8, rows: []madeRow{
			{sp: true, words: []int64{8}, means: "cfa = $rsp + 8, ra = [cfa − 8], $rbp = unchanged, other registers lost"}}},
	},
}, {
	name: "wide", says: "start addresses of 1, 2 and 4 bytes with offsets of 1, 2 and 4 bytes",
	order: little, version: 2, flags: 0x05, abi: 3, ra: -8, address: 0x900000,
	funcs: []madeFunc{
		{start: 0x1000, size: 0x40, addr: 1, rows: []madeRow{
			{sp: true, words: []int64{8}, size: 4, means: "cfa = $rsp + 8, ra = [cfa − 8], $rbp = unchanged, other registers lost"},
			{at: 7, sp: true, words: []int64{0x1008}, size: 2, means: "cfa = $rsp + 4104, ra = [cfa − 8], $rbp = unchanged, other registers lost"}}},
		{start: 0x1040, size: 0xf000, addr: 2, rows: []madeRow{
			{sp: true, words: []int64{8}, means: "cfa = $rsp + 8, ra = [cfa − 8], $rbp = unchanged, other registers lost"},
			{at: 0x1ff, sp: true, words: []int64{0x1008, -16}, size: 2, means: "cfa = $rsp + 4104, ra = [cfa − 8], $rbp = [cfa − 16], other registers lost"},
			{at: 0xeff0, sp: true, words: []int64{8}, means: "cfa = $rsp + 8, ra = [cfa − 8], $rbp = unchanged, other registers lost"}}},
		{start: 0x20000, size: 0x20000, addr: 4, rows: []madeRow{
			{sp: true, words: []int64{8}, means: "cfa = $rsp + 8, ra = [cfa − 8], $rbp = unchanged, other registers lost"},
			{at: 0x10005, sp: true, words: []int64{70016, -70000}, size: 4, means: "cfa = $rsp + 70016, ra = [cfa − 8], $rbp = [cfa − 70000], other registers lost"},
			{at: 0x1fff0, words: []int64{-70016, 70000}, size: 4, means: "cfa = $rbp − 70016, ra = [cfa − 8], $rbp = [cfa + 70000], other registers lost"}}},
	},
}, {
	name: "arm64", says: "arm64 with one and three offsets, return addresses signed with key A and with key B",
	order: little, version: 2, flags: 0x05, abi: 2, address: 0x3000, funcs: arm64Functions,
}, {
	name: "arm64-big", says: "the same for a big-endian arm64",
	order: big, version: 2, flags: 0x05, abi: 1, address: 0x3000, funcs: arm64Functions,
}, {
	name: "frame-pointers", says: "a fixed offset of the frame pointer, and a flag that functions without an entry keep one",
	order: little, version: 2, flags: 0x07, abi: 3, fp: -16, ra: -8, address: 0x3000,
	funcs: []madeFunc{
		{start: 0x1000, size: 0x10, addr: 1, rows: []madeRow{{words: []int64{16}, means: "cfa = $rbp + 16, ra = [cfa − 8], $rbp = [cfa − 16], other registers lost"}}},
		{start: 0x1020, size: 0x10, addr: 1, rows: []madeRow{{words: []int64{16}, means: "cfa = $rbp + 16, ra = [cfa − 8], $rbp = [cfa − 16], other registers lost"}}},
	},
	others: map[uint64]string{0xfff: frameOfAMD64, 0x1010: frameOfAMD64, 0x101f: frameOfAMD64, 0x1030: frameOfAMD64},
}, {
	name: "unknown", says: "flags and bits that nobody has defined, and numbers that the CPU has no use for",
	order: little, version: 2, flags: 0xf1, abi: 3, ra: -8, address: 0x3000,
	funcs: []madeFunc{
		{start: 0x1000, size: 0x10, addr: 1, extra: 0xc0, rows: []madeRow{{sp: true, words: []int64{8}, means: "cfa = $rsp + 8, ra = [cfa − 8], $rbp = unchanged, other registers lost"}}},
		{start: 0x1010, size: 0x10, addr: 1, pad: 0x0102, rows: []madeRow{{sp: true, words: []int64{8}, signed: true, means: "cfa = $rsp + 8, ra = [cfa − 8], $rbp = unchanged, other registers lost"}}},
		{start: 0x1020, size: 0x10, addr: 1, keyB: true, rows: []madeRow{{sp: true, words: []int64{8, -16, -24}, means: "cfa = $rsp + 8, ra = [cfa − 8], $rbp = [cfa − 16], other registers lost"}}},
	},
	warnings: []string{"offset 0x3: unknown flags 0xf0", "offset 0x2c: unknown bits 0xc0", "offset 0x42: unused bytes 0x01 0x02", "offset 0x54: unknown bits 0x20",
		"says that the return address is signed", "has 3 offsets"},
}, {
	name: "version1", says: "version 1: functions of 17 bytes",
	order: little, version: 1, flags: 0x01, abi: 3, ra: -8, address: 0x3000,
	funcs: []madeFunc{
		{start: 0x1000, size: 0x10, addr: 1, rows: []madeRow{{sp: true, words: []int64{8}, means: "cfa = $rsp + 8, ra = [cfa − 8], $rbp = unchanged, other registers lost"}}},
		{start: 0x1010, size: 0x210, addr: 2, rows: []madeRow{
			{sp: true, words: []int64{16}, means: "cfa = $rsp + 16, ra = [cfa − 8], $rbp = unchanged, other registers lost"},
			{at: 0x101, words: []int64{16, -16}, means: "cfa = $rbp + 16, ra = [cfa − 8], $rbp = [cfa − 16], other registers lost"},
			{at: 0x200, words: []int64{-0x80000000, 0x7fffffff}, size: 4, means: "cfa = $rbp − 2147483648, ra = [cfa − 8], $rbp = [cfa + 2147483647], other registers lost"}}},
	},
}, {
	name: "version3", says: "version 3: starts of 64 bits, attributes next to the rows, a signal frame, flexible functions",
	order: little, version: 3, flags: 0x05, abi: 3, ra: -8, address: 0x7f0000003000,
	funcs: []madeFunc{
		{start: 0x1000, size: 0x10, addr: 1, rows: []madeRow{
			{sp: true, words: []int64{8}, means: "cfa = $rsp + 8, ra = [cfa − 8], $rbp = unchanged, other registers lost"},
			{at: 4, sp: true, words: []int64{16, -16}, means: "cfa = $rsp + 16, ra = [cfa − 8], $rbp = [cfa − 16], other registers lost"}}},
		{start: 0x1010, size: 0x10, addr: 2, signal: true, rows: []madeRow{
			{sp: true, words: []int64{0x208}, size: 2, means: "cfa = $rsp + 520, ra = [cfa − 8], $rbp = unchanged, other registers lost (signal frame)"}}},
		// A function that aligns its stack: CFA from r10, then from where that was pushed.
		{start: 0x1020, size: 0x20, addr: 1, flex: true, rows: []madeRow{
			{words: []int64{10<<3 | 1, 0}, means: "cfa = $r10, ra = [cfa − 8], $rbp = unchanged, other registers lost"},
			{at: 8, words: []int64{10<<3 | 1, 0, 0, 6<<3 | 3, 0}, means: "cfa = $r10, ra = [cfa − 8], $rbp = [$rbp], other registers lost"},
			{at: 12, words: []int64{6<<3 | 3, -8, 0, 6<<3 | 3, 0}, means: "cfa = [$rbp − 8], ra = [cfa − 8], $rbp = [$rbp], other registers lost"},
			{at: 16, words: []int64{2<<3 | 1, 8, 2<<3 | 1, 0}, means: "cfa = $rcx + 8, ra = $rcx, $rbp = unchanged, other registers lost (topmost frame only)"},
			{at: 20, words: []int64{7<<3 | 1, 8, 2, -16, 1, 4}, means: "cfa = $rsp + 8, ra = [cfa − 16], $rbp = $rax + 4, other registers lost"},
			{at: 24, words: []int64{7<<3 | 1, 8, 0, 8, -16}, means: "cfa = $rsp + 8, ra = [cfa − 8], $rbp = cfa − 16, other registers lost"},
			{at: 28, means: "cfa = lost, ra = lost, other registers lost"}}},
		{start: 0x7f0000001000, size: 0x30, addr: 1, mask: true, rep: 16, rows: []madeRow{
			{sp: true, words: []int64{8}, means: "cfa = $rsp + 8, ra = [cfa − 8], $rbp = unchanged, other registers lost"},
			{at: 11, sp: true, words: []int64{16}, means: "cfa = $rsp + 16, ra = [cfa − 8], $rbp = unchanged, other registers lost"}}},
	},
}, {
	name: "version3-s390x", says: "version 3 for s390x: registers only in flexible functions, whose CFA is in units of 8 as well",
	order: big, version: 3, flags: 0x05, abi: 4, address: 0x3000,
	funcs: []madeFunc{
		{start: 0x1000, size: 0x10, addr: 1, rows: []madeRow{
			{sp: true, words: []int64{0}, means: "cfa = $r15 + 160, ra = $r14, $r11 = unchanged, $r15 = cfa − 160, other registers lost (topmost frame only)"},
			{at: 6, sp: true, words: []int64{20, -48, -72}, means: "cfa = $r15 + 320, ra = [cfa − 48], $r11 = [cfa − 72], $r15 = cfa − 160, other registers lost"}}},
		{start: 0x1010, size: 0x10, addr: 1, flex: true, rows: []madeRow{
			{words: []int64{15<<3 | 1, 0, 16<<3 | 1, 0}, size: 2, means: "cfa = $r15 + 160, ra = $f0, $r11 = unchanged, $r15 = cfa − 160, other registers lost (topmost frame only)"},
			{at: 4, words: []int64{15<<3 | 1, 0, 16<<3 | 1, 0, 17<<3 | 1, 0}, size: 2, means: "cfa = $r15 + 160, ra = $f0, $r11 = $f2, $r15 = cfa − 160, other registers lost (topmost frame only)"},
			{at: 8, words: []int64{14<<3 | 1, 1536, 2, -48}, size: 2, means: "cfa = $r14 + 12448, ra = [cfa − 48], $r11 = unchanged, $r15 = cfa − 160, other registers lost"}}},
	},
}}

const frameOfAMD64 = "cfa = $rbp + 16, ra = [cfa − 8], $rbp = [cfa − 16], other registers lost"

var arm64Functions = []madeFunc{
	{start: 0x1000, size: 0x40, addr: 1, rows: []madeRow{
		{sp: true, words: []int64{0}, means: "cfa = $sp, ra = $lr, $fp = unchanged, other registers lost (topmost frame only)"},
		{at: 4, sp: true, words: []int64{0}, signed: true, means: "cfa = $sp, ra = $lr, $fp = unchanged (signed with key A), other registers lost (topmost frame only)"},
		{at: 8, sp: true, words: []int64{32, -24, -32}, signed: true, means: "cfa = $sp + 32, ra = [cfa − 24], $fp = [cfa − 32] (signed with key A), other registers lost"},
		{at: 12, words: []int64{32, -24, -32}, signed: true, means: "cfa = $fp + 32, ra = [cfa − 24], $fp = [cfa − 32] (signed with key A), other registers lost"},
		{at: 0x38, sp: true, words: []int64{0}, means: "cfa = $sp, ra = $lr, $fp = unchanged, other registers lost (topmost frame only)"}}},
	{start: 0x1040, size: 0x40, addr: 1, keyB: true, rows: []madeRow{
		{sp: true, words: []int64{0}, means: "cfa = $sp, ra = $lr, $fp = unchanged, other registers lost (topmost frame only)"},
		{at: 8, sp: true, words: []int64{336, -328, -336}, size: 2, signed: true, means: "cfa = $sp + 336, ra = [cfa − 328], $fp = [cfa − 336] (signed with key B), other registers lost"}}},
}
