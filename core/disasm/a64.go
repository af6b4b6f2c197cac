package disasm

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/arch/arm64/arm64asm"
)

// DecodeA64 decodes the instruction of arm64 at the beginning of code, which has at least 4 bytes
// and is at an address.
func DecodeA64(code []byte, at uint64) Inst {
	if s := a64More(binary.LittleEndian.Uint32(code)); s != "" {
		return Inst{Len: 4, Text: s}
	}
	i, err := arm64asm.Decode(code[:4:4]) // it reads the bytes after it
	if err != nil || i.Op == 0 {
		return Inst{}
	}
	in := Inst{Len: 4}
	if i.Op == arm64asm.ADRP {
		at &^= 0xfff
	}
	for _, a := range i.Args {
		rel, ok := a.(arm64asm.PCRel)
		switch i.Op {
		case arm64asm.B, arm64asm.CBZ, arm64asm.CBNZ, arm64asm.TBZ, arm64asm.TBNZ:
			if ok {
				in.goes(at+uint64(rel), true)
			}
		case arm64asm.ADR, arm64asm.ADRP, arm64asm.LDR, arm64asm.LDRSW:
			if ok {
				in.Data = at + uint64(rel)
			}
		}
	}
	in.Text = absolute(a64Words.Replace(arm64asm.GNUSyntax(i)), at)
	return in
}

// a64Words puts right how arm64asm spells: no space after a comma, registers of the system without
// a name.
var a64Words = strings.NewReplacer(", ", ", ", ",", ", ", "s3_3_c13_c0_2", "tpidr_el0", "s3_3_c13_c0_3", "tpidrro_el0", "s3_3_c4_c4_0", "fpcr", "s3_3_c4_c4_1", "fpsr",
	"s3_3_c0_c0_7", "dczid_el0", "s3_3_c0_c0_1", "ctr_el0", "s3_3_c14_c0_2", "cntvct_el0", "s3_3_c14_c0_0", "cntfrq_el0")

// absolute writes the address of an instruction's target where a decoder writes how far it is:
// "b .+0x8" at 0x1000 is "b 0x1008".
func absolute(s string, at uint64) string {
	for i := 0; i+3 < len(s); i++ {
		if s[i] != '.' || s[i+1] != '+' && s[i+1] != '-' || i > 0 && s[i-1] != ' ' {
			continue
		}
		end := i + 2
		for end < len(s) && (s[end] == 'x' || s[end] >= '0' && s[end] <= '9' || s[end] >= 'a' && s[end] <= 'f') {
			end++
		}
		if n, err := strconv.ParseUint(s[i+2:end], 0, 64); err == nil {
			if s[i+1] == '-' {
				n = -n
			}
			return s[:i] + "0x" + strconv.FormatUint(at+n, 16) + s[end:]
		}
	}
	return s
}

// a64Row is a group of instructions: those that have bits under a mask.
type a64Row struct {
	mask, bits uint32
	text       func(word uint32) string
}

// field returns n bits of a word.
func field(word uint32, at, n int) uint32 { return word >> at & (1<<n - 1) }

// signed is a field with a sign.
func signed(word uint32, at, n int) int32 { return int32(word<<(32-at-n)) >> (32 - n) }

// a64Rows are instructions that golang.org/x/arch lacks and that programs have, or spells by their numbers: hints, atomics (LSE),
// loads of limited ordering, pointer authentication, memory tags (MTE) and those of SVE that copy and fill memory.
//
// Source: Arm Architecture Reference Manual for A-profile, section C4.1, and C8 for SVE.
var a64Rows = []a64Row{
	{0xffff0000, 0, func(w uint32) string { return fmt.Sprintf("udf #0x%x", w) }},
	{0xfffff01f, 0xd503201f, func(w uint32) string { return hints[field(w, 5, 7)] }},

	{0x3f200c00, 0x38200000, lse},
	{0x3fa07c00, 0x08a07c00, compareAndSwap},
	{0xbfa07c00, 0x08207c00, comparePair},
	{0x3ffffc00, 0x38bfc000, func(w uint32) string { return order("ldapr", w, 0, 0) + " " + sized(w, 0) + ", " + base(w, 0, 0) }},
	{0x3fa08000, 0x08800000, func(w uint32) string { // limited ordering
		return order([2]string{"stllr", "ldlar"}[field(w, 22, 1)], w, 0, 0) + " " + sized(w, 0) + ", " + base(w, 0, 0)
	}},
	{0x3f200c00, 0x19000000, unscaled},
	{0xfe9ff800, 0xd61f0800, authenticated},

	{0xffe0fc00, 0x9ac01000, func(w uint32) string { // irg
		s := "irg " + xsp(w, 0) + ", " + xsp(w, 5)
		if field(w, 16, 5) != 31 {
			s += ", " + x(w, 16)
		}
		return s
	}},
	{0xffe0fc00, 0x9ac01400, func(w uint32) string { return "gmi " + x(w, 0) + ", " + xsp(w, 5) + ", " + x(w, 16) }},
	{0xffe0fc00, 0x9ac00000, func(w uint32) string { return "subp " + x(w, 0) + ", " + xsp(w, 5) + ", " + xsp(w, 16) }},
	{0xbfc0c000, 0x91800000, func(w uint32) string { // addg, subg
		return fmt.Sprintf("%s %s, %s, #0x%x, #0x%x", [2]string{"addg", "subg"}[field(w, 30, 1)], xsp(w, 0), xsp(w, 5), field(w, 16, 6)*16, field(w, 10, 4))
	}},
	{0xffe00c00, 0xd9600000, func(w uint32) string { return "ldg " + x(w, 0) + ", " + base(w, signed(w, 12, 9)*16, 0) }},
	{0xff200000, 0xd9200000, storeTag},

	{0xff3ffc10, 0x2518e000, func(w uint32) string { return "ptrue " + predicate(w, 0) + elements(w) + pattern(w, 5, "") }},
	{0xff20e000, 0x25200000, while},
	{0xff30f800, 0x0420e000, func(w uint32) string { // cntb, cnth, cntw, cntd
		return "cnt" + elements(w)[1:] + " " + x(w, 0) + pattern(w, 5, multiplied(w))
	}},
	{0xff30f800, 0x0430e000, func(w uint32) string { // incb … decd
		return [2]string{"inc", "dec"}[field(w, 10, 1)] + elements(w)[1:] + " " + x(w, 0) + pattern(w, 5, multiplied(w))
	}},
	{0xfffff800, 0x04bf5000, func(w uint32) string { return fmt.Sprintf("rdvl %s, #%d", x(w, 0), signed(w, 5, 6)) }},
	{0xffe0f800, 0x04205000, func(w uint32) string {
		return fmt.Sprintf("addvl %s, %s, #%d", xsp(w, 0), xsp(w, 16), signed(w, 5, 6))
	}},
	{0xff3ffc00, 0x05203800, func(w uint32) string { // mov of a general register to all elements
		r := strings.Replace(xsp(w, 5), "x", "w", 1)
		switch {
		case field(w, 22, 2) == 3:
			r = xsp(w, 5)
		case r == "sp":
			r = "wsp"
		}
		return fmt.Sprintf("mov z%d%s, %s", field(w, 0, 5), elements(w), r)
	}},
	{0xffe0e000, 0xa4004000, func(w uint32) string { return bytesOf("ld1b", w, "/z", indexed(w)) }},
	{0xfff0e000, 0xa400a000, func(w uint32) string { return bytesOf("ld1b", w, "/z", vectors(w)) }},
	{0xffe0e000, 0xe4004000, func(w uint32) string { return bytesOf("st1b", w, "", indexed(w)) }},
	{0xfff0e000, 0xe400e000, func(w uint32) string { return bytesOf("st1b", w, "", vectors(w)) }},
}

// hints are the instructions that older processors ignore.
var hints = map[uint32]string{7: "xpaclri", 8: "pacia1716", 10: "pacib1716", 12: "autia1716", 14: "autib1716", 16: "esb", 17: "psb csync", 20: "csdb",
	24: "paciaz", 25: "paciasp", 26: "pacibz", 27: "pacibsp", 28: "autiaz", 29: "autiasp", 30: "autibz", 31: "autibsp", 32: "bti", 34: "bti c", 36: "bti j", 38: "bti jc"}

// a64More spells an instruction of a64Rows, or returns "".
func a64More(word uint32) string {
	for _, r := range a64Rows {
		if word&r.mask != r.bits {
			continue
		}
		if s := r.text(word); s != "" {
			return s
		}
	}
	return ""
}

// lse spells atomic operations: ldadd and its like, and swp.
func lse(w uint32) string {
	op := field(w, 12, 3)
	name := "ld" + [8]string{"add", "clr", "eor", "set", "smax", "smin", "umax", "umin"}[op]
	switch {
	case field(w, 15, 1) == 1 && op == 0:
		name = "swp"
	case field(w, 15, 1) == 1:
		return ""
	}
	acquire, release := field(w, 23, 1), field(w, 22, 1)
	if name != "swp" && field(w, 0, 5) == 31 && acquire == 0 { // what was there is not wanted
		return order("st"+name[2:], w, 0, release) + " " + sized(w, 16) + ", " + base(w, 0, 0)
	}
	return order(name, w, acquire, release) + " " + sized(w, 16) + ", " + sized(w, 0) + ", " + base(w, 0, 0)
}

func compareAndSwap(w uint32) string {
	return order("cas", w, field(w, 22, 1), field(w, 15, 1)) + " " + sized(w, 16) + ", " + sized(w, 0) + ", " + base(w, 0, 0)
}

func comparePair(w uint32) string {
	s := "casp" + [2]string{"", "a"}[field(w, 22, 1)] + [2]string{"", "l"}[field(w, 15, 1)] + " "
	for _, at := range []int{16, 0} {
		n := field(w, at, 5)
		if n%2 == 1 {
			return ""
		}
		for _, r := range []uint32{n, n + 1} {
			s += register([2]string{"w", "x"}[field(w, 30, 1)], r, "zr") + ", "
		}
	}
	return s + base(w, 0, 0)
}

// unscaled spells ldapur and stlur.
func unscaled(w uint32) string {
	size, op := w>>30, field(w, 22, 2)
	if op > 1 && size+op > 4 {
		return ""
	}
	kind := "w"
	if size == 3 || op == 2 {
		kind = "x"
	}
	name := [4]string{"stlur", "ldapur", "ldapurs", "ldapurs"}[op] + [4]string{"b", "h"}[size]
	if size == 2 && op == 2 {
		name += "w"
	}
	return name + " " + register(kind, field(w, 0, 5), "zr") + ", " + base(w, signed(w, 12, 9), 0)
}

// authenticated spells branches that authenticate the pointer first: with an address (braa), with 0 (braaz), and returns.
func authenticated(w uint32) string {
	op, modifier := field(w, 21, 2), field(w, 24, 1)
	if op > 2 {
		return ""
	}
	name := [3]string{"br", "blr", "ret"}[op] + [2]string{"aa", "ab"}[field(w, 10, 1)]
	switch {
	case op == 2 && w&0x3ff == 0x3ff && modifier == 0:
		return name
	case op < 2 && modifier == 1:
		return name + " " + x(w, 5) + ", " + xsp(w, 0)
	case op < 2 && field(w, 0, 5) == 31:
		return name + "z " + x(w, 5)
	}
	return ""
}

// order adds to an atomic instruction's name its order and the size of its operand.
func order(name string, w, acquire, release uint32) string {
	return name + [2]string{"", "a"}[acquire] + [2]string{"", "l"}[release] + [4]string{"b", "h"}[w>>30]
}

// storeTag spells stg, stzg, st2g and stz2g in their three forms, and the instructions of several tags.
func storeTag(w uint32) string {
	op := field(w, 22, 2)
	form := field(w, 10, 2)
	if form == 0 {
		name := [4]string{"stzgm", "", "stgm", "ldgm"}[op]
		if name == "" || field(w, 12, 9) != 0 {
			return ""
		}
		return name + " " + x(w, 0) + ", " + base(w, 0, 0)
	}
	return [4]string{"stg", "stzg", "st2g", "stz2g"}[op] + " " + xsp(w, 0) + ", " + base(w, signed(w, 12, 9)*16, form)
}

// while spells whilelo and its like, which make the predicate of a loop.
func while(w uint32) string {
	name := [8]string{"whilege", "whilegt", "whilelt", "whilele", "whilehs", "whilehi", "whilelo", "whilels"}[field(w, 10, 2)<<1|field(w, 4, 1)]
	kind := [2]string{"w", "x"}[field(w, 12, 1)]
	return fmt.Sprintf("%s %s%s, %s, %s", name, predicate(w, 0), elements(w), register(kind, field(w, 5, 5), "zr"), register(kind, field(w, 16, 5), "zr"))
}

// register spells a general register; number 31 is last, after the kind unless it is sp.
func register(kind string, n uint32, last string) string {
	switch {
	case n == 31 && last == "sp":
		return "sp"
	case n == 31:
		return kind + last
	}
	return kind + strconv.Itoa(int(n))
}

func x(w uint32, at int) string   { return register("x", field(w, at, 5), "zr") }
func xsp(w uint32, at int) string { return register("x", field(w, at, 5), "sp") }

// sized spells a register of the size in the highest bits of the word.
func sized(w uint32, at int) string {
	return register([2]string{"w", "x"}[w>>30/3], field(w, at, 5), "zr")
}

// base spells a memory operand: form 1 adds the offset afterwards, form 3 before.
func base(w uint32, offset int32, form uint32) string {
	switch {
	case form == 1:
		return fmt.Sprintf("[%s], #%d", xsp(w, 5), offset)
	case form == 3:
		return fmt.Sprintf("[%s, #%d]!", xsp(w, 5), offset)
	case offset == 0:
		return "[" + xsp(w, 5) + "]"
	}
	return fmt.Sprintf("[%s, #%d]", xsp(w, 5), offset)
}

func predicate(w uint32, at int) string { return "p" + strconv.Itoa(int(field(w, at, 4))) }

// elements spells the size of a vector's elements.
func elements(w uint32) string { return "." + "bhsd"[field(w, 22, 2):][:1] }

// patterns are the names of how many elements a predicate has.
var patterns = map[uint32]string{0: "pow2", 1: "vl1", 2: "vl2", 3: "vl3", 4: "vl4", 5: "vl5", 6: "vl6", 7: "vl7", 8: "vl8", 9: "vl16", 10: "vl32",
	11: "vl64", 12: "vl128", 13: "vl256", 29: "mul4", 30: "mul3", 31: "all"}

// pattern spells a pattern, unless it is all elements and nothing follows.
func pattern(w uint32, at int, after string) string {
	n := field(w, at, 5)
	if n == 31 && after == "" {
		return ""
	}
	name := patterns[n]
	if name == "" {
		name = "#" + strconv.Itoa(int(n))
	}
	return ", " + name + after
}

func multiplied(w uint32) string {
	if n := field(w, 16, 4) + 1; n > 1 {
		return ", mul #" + strconv.Itoa(int(n))
	}
	return ""
}

// bytesOf spells a load or a store of a vector's bytes.
func bytesOf(name string, w uint32, zero, memory string) string {
	return fmt.Sprintf("%s {z%d.b}, p%d%s, %s", name, field(w, 0, 5), field(w, 10, 3), zero, memory)
}

func indexed(w uint32) string { return "[" + xsp(w, 5) + ", " + x(w, 16) + "]" }

func vectors(w uint32) string {
	if n := signed(w, 16, 4); n != 0 {
		return fmt.Sprintf("[%s, #%d, mul vl]", xsp(w, 5), n)
	}
	return "[" + xsp(w, 5) + "]"
}
