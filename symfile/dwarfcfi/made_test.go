package dwarfcfi_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dwarfcfi"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Every instruction of call frame information, in a function at 0x1000: what the rules are before
// it and after it.
func TestInstructions(t *testing.T) {
	const entry = "cfa = $rsp + 8, ra = [cfa − 8]"
	adv := []byte{0x41} // by one unit
	for _, c := range []struct {
		name  string
		code  []byte
		after string
	}{
		{"nop", []byte{0}, entry},
		{"def_cfa", []byte{0x0c, 6, 16}, "cfa = $rbp + 16, ra = [cfa − 8]"},
		{"def_cfa_sf", []byte{0x12, 6, 0x7e}, "cfa = $rbp + 16, ra = [cfa − 8]"},
		{"def_cfa_register", []byte{0x0d, 6}, "cfa = $rbp + 8, ra = [cfa − 8]"},
		{"def_cfa_offset", []byte{0x0e, 0x80, 1}, "cfa = $rsp + 128, ra = [cfa − 8]"},
		{"def_cfa_offset_sf", []byte{0x13, 0x7e}, "cfa = $rsp + 16, ra = [cfa − 8]"},
		{"offset", []byte{0x83, 2}, entry + ", $rbx = [cfa − 16]"},
		{"offset_extended", []byte{0x05, 3, 0x80, 1}, entry + ", $rbx = [cfa − 1024]"},
		{"offset_extended_sf", []byte{0x11, 3, 0x7e}, entry + ", $rbx = [cfa + 16]"},
		{"GNU_negative_offset_extended", []byte{0x2f, 3, 2}, entry + ", $rbx = [cfa + 16]"},
		{"val_offset", []byte{0x14, 3, 2}, entry + ", $rbx = cfa − 16"},
		{"val_offset_sf", []byte{0x15, 3, 0x7e}, entry + ", $rbx = cfa + 16"},
		{"register", []byte{0x09, 3, 12}, entry + ", $rbx = $r12"},
		{"register with itself", []byte{0x09, 3, 3}, entry + ", $rbx = unchanged"},
		{"register of the return address", []byte{0x09, 16, 2}, "cfa = $rsp + 8, ra = $rcx"},
		{"undefined", []byte{0x07, 3}, entry + ", $rbx = lost"},
		{"same_value", []byte{0x08, 3}, entry + ", $rbx = unchanged"},
		{"restore", []byte{0x83, 2, 0xc3}, entry},
		{"restore_extended", []byte{0x83, 2, 0x06, 3}, entry},
		{"restore of what the CIE says", []byte{0x90, 3, 0xd0}, entry},
		{"remember_state, restore_state", []byte{0x0a, 0x83, 2, 0x0e, 64, 0x0b}, entry},
		{"remembered twice", []byte{0x0a, 0x83, 2, 0x0a, 0x8c, 3, 0x0b}, entry + ", $rbx = [cfa − 16]"},
		{"GNU_args_size", []byte{0x2e, 0x90, 2}, entry},
		{"MIPS_advance_loc8 by none", []byte{0x1d, 0, 0, 0, 0, 0, 0, 0, 0}, entry},
		{"a register that is no general one", []byte{0x91, 3}, entry},
		{"def_cfa_expression", []byte{0x0f, 3, 0x77, 8, 0x06}, "cfa = [$rsp + 8], ra = [cfa − 8]"},
		{"expression", []byte{0x10, 3, 2, 0x76, 0x70}, entry + ", $rbx = [$rbp − 16]"},
		{"expression of the cfa", []byte{0x10, 3, 2, 0x23, 8}, entry + ", $rbx = [cfa + 8]"},
		{"val_expression", []byte{0x16, 3, 2, 0x76, 0x70}, entry + ", $rbx = $rbp − 16"},
		{"expression that cannot be said", []byte{0x10, 3, 9, 0x03, 1, 2, 3, 4, 5, 6, 7, 8}, entry + ", $rbx = lost"},
		{"the linkage table's cfa", cat([]byte{0x0f, 11}, []byte{0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}),
			"cfa = ($rsp + 8) + ((($rip and 15) ge 11) shl 3), ra = [cfa − 8]"},
	} {
		b := amd64Form.build()
		b.fde(0x1000, 0x20, adv, c.code, []byte{0x42}, []byte{0x0c, 3, 0})
		tab := b.open(t)
		for pc, want := range map[uint64]string{0xfff: "none", 0x1000: entry, 0x1001: c.after, 0x1002: c.after, 0x1020: "none"} {
			if got := at(t, tab, cpu.AMD64, pc); got != want {
				t.Errorf("%s at 0x%x: %s, want %s", c.name, pc, got, want)
			}
		}
		if got := at(t, tab, cpu.AMD64, 0x101f); !strings.HasPrefix(got, "cfa = $rbx") {
			t.Errorf("%s at the end: %s", c.name, got)
		}
	}
}

// The ways to move on, each with its size of operand and in units of the CIE's code alignment.
func TestAdvance(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		f := amd64Form
		f.order, f.code = order, 4
		number := func(op byte, v uint64, size int) []byte {
			a := asm{order: order}
			return a.raw(op).num(v, size).b
		}
		for _, c := range []struct {
			code []byte
			by   uint64
		}{
			{[]byte{0x40 | 5}, 20}, {number(0x02, 0x81, 1), 0x204}, {number(0x03, 0x1234, 2), 0x48d0}, {number(0x04, 0x10000, 4), 0x40000},
			{number(0x1d, 0x20000, 8), 0x80000}, {number(0x01, 0x1800, 8), 0x800},
		} {
			b := f.build()
			b.fde(0x1000, 0x100000, c.code, []byte{0x0e, 16})
			tab := b.open(t)
			before, after := at(t, tab, cpu.AMD64, 0x1000+c.by-1), at(t, tab, cpu.AMD64, 0x1000+c.by)
			if !strings.HasPrefix(before, "cfa = $rsp + 8,") || !strings.HasPrefix(after, "cfa = $rsp + 16,") {
				t.Errorf("%v % x: %s, then %s", order, c.code, before, after)
			}
		}
	}
}

// The same function in every form that a section can have.
func TestForms(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, arch := range []*cpu.Arch{cpu.AMD64, cpu.MIPS, cpu.PPC64} {
			for _, version := range []byte{1, 3, 4} {
				for bits := range 16 {
					f := form{arch: arch, order: order, version: version, code: 1, data: -4, ra: 16, init: []byte{0x0c, 7, 8, 0x90, 1}}
					f.wide, f.debug, f.longID = bits&1 != 0, bits&2 != 0, bits&4 != 0
					if bits&8 != 0 && version == 4 {
						f.segment = 4
					}
					if arch != cpu.AMD64 {
						f.ra, f.init = 31, []byte{0x0c, 1, 8, 0x80 | 31, 1}
					}
					b := f.build()
					b.fde(0x2000, 0x10)
					b.fde(0x1000, 0x10, []byte{0x44, 0x0e, 24})
					tab := b.open(t)
					for pc, want := range map[uint64]string{0x1003: "8", 0x1004: "24", 0x200f: "8"} {
						if got := at(t, tab, arch, pc); !strings.Contains(got, " + "+want+", ra = [cfa − 4]") {
							t.Errorf("%s %v version %d form %04b at 0x%x: %s, want %s", arch.Name, order, version, bits, pc, got, want)
						}
					}
					if w := tab.Warnings(); len(w) > 0 {
						t.Errorf("%s %v version %d form %04b: %v", arch.Name, order, version, bits, w)
					}
				}
			}
		}
	}
}

func TestPointerEncodings(t *testing.T) {
	for _, format := range []byte{0, 1, 2, 3, 4, 9, 10, 11, 12, 8} {
		for _, base := range []byte{0, 0x10, 0x20, 0x30, 0x50} {
			for _, word := range []*cpu.Arch{cpu.AMD64, cpu.MIPS} {
				enc := base | format
				short := format == 1 || format == 2 || format == 10 || format == 3 && word.WordSize == 8 || format == 4 && word.WordSize == 4
				if base == 0x10 && short || base == 0x50 && format != 0 {
					continue // such a number cannot say how far back the function is
				}
				f := amd64Form
				f.aug, f.augData, f.enc = "zR", []byte{enc}, enc
				if word == cpu.MIPS {
					f.arch, f.ra, f.init = word, 31, []byte{0x0c, 29, 8, 0x80 | 31, 1}
				}
				b := f.build()
				b.fde(0x1000, 0x10)
				b.fde(0x1010, 0x10, []byte{0x0e, 24})
				tab := b.open(t)
				if got := at(t, tab, word, 0x1011); !strings.Contains(got, " + 24, ra = [cfa − 8]") {
					t.Errorf("encoding 0x%02x, %s: %s %v", enc, word.Name, got, tab.Warnings())
				}
			}
		}
	}
	// An indirect pointer is looked up in the file.
	f := amd64Form
	f.aug, f.augData, f.enc = "zR", []byte{0x80}, 0
	b := f.build()
	b.fde(0x5550, 0x10)
	cfg := b.config()
	cfg.At = func(address uint64, n int64) ([]byte, error) {
		if address != 0x5550 || n != 8 {
			return nil, errors.New("not there")
		}
		return []byte{0, 0x10, 0, 0, 0, 0, 0, 0}, nil
	}
	tab, err := dwarfcfi.EHFrame(input.FromBytes("made.so", b.b), secAddr, nil, 0, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got := at(t, tab, cpu.AMD64, 0x1008); got != "cfa = $rsp + 8, ra = [cfa − 8]" {
		t.Errorf("indirect: %s %v", got, tab.Warnings())
	}
	if tab := b.open(t); at(t, tab, cpu.AMD64, 0x1008) != "none" || len(tab.Warnings()) != 1 {
		t.Errorf("an indirect pointer without a file: %v", tab.Warnings())
	}
}

func TestAugmentations(t *testing.T) {
	const plain = "cfa = $rsp + 8, ra = [cfa − 8]"
	eight := make([]byte, 8)
	for _, c := range []struct {
		aug     string
		data    []byte
		fde     []byte
		want    string
		warning string
	}{
		{"", nil, nil, plain, ""},
		{"eh", nil, nil, plain, ""},
		{"z", nil, nil, plain, ""},
		{"zL", []byte{0}, eight, plain, ""},
		{"zPL", cat([]byte{0}, eight, []byte{0}), eight, plain, ""},
		{"zPLR", cat([]byte{0x9b, 1, 2, 3, 4, 0x1b, 0}), []byte{1, 2, 3, 4}, plain, ""},
		{"zRS", []byte{0}, nil, plain + " (signal frame)", ""},
		{"zRB", []byte{0}, nil, plain, ""},
		{"zRG", []byte{0}, nil, plain, ""},
		{"zRX", []byte{0, 1, 2, 3}, nil, plain, "augmentation"},
		{"armcc+", nil, nil, plain, ""},
		{"X", []byte{1}, nil, "none", "augmentation"},
		{"Rz", []byte{0}, nil, "none", "augmentation"},
		{"zP", []byte{0}, nil, "none", "more bytes"},
		{"zRR", []byte{0}, nil, "none", "letters that need more"},
	} {
		f := amd64Form
		f.aug, f.augData, f.fdeAug = c.aug, c.data, c.fde
		b := f.build()
		b.fde(0x1000, 0x10)
		tab := b.open(t)
		if got := at(t, tab, cpu.AMD64, 0x1008); got != c.want {
			t.Errorf("%q: %s, want %s (%v)", c.aug, got, c.want, tab.Warnings())
		}
		w := strings.Join(tab.Warnings(), "\n")
		if c.warning == "" && w != "" || !strings.Contains(w, c.warning) {
			t.Errorf("%q: warnings %q, want %q", c.aug, w, c.warning)
		}
	}
}

// What processors have of their own.
func TestProcessors(t *testing.T) {
	cfa := func(reg, off byte) []byte { return []byte{0x0c, reg, off} }
	tested := map[*cpu.Arch]bool{cpu.RISCV: true, cpu.X86: true} // as RISCV64; in other tests
	for _, c := range []struct {
		name string
		form form
		code []byte
		want string
	}{
		{"arm64: the return address is in lr", form{arch: cpu.ARM64, ra: 30, data: -8, init: cfa(31, 0)}, nil, "cfa = $sp, ra = $lr (topmost frame only)"},
		{"arm64: signed with key A", form{arch: cpu.ARM64, ra: 30, data: -8, init: cfa(31, 0)}, []byte{0x2d, 0x80 | 30, 1, 0x80 | 29, 2},
			"cfa = $sp, ra = [cfa − 8], $fp = [cfa − 16] (signed with key A)"},
		{"arm64: signed and authenticated", form{arch: cpu.ARM64, ra: 30, data: -8, init: cfa(31, 0)}, []byte{0x2d, 0x2d}, "cfa = $sp, ra = $lr (topmost frame only)"},
		{"arm64: negate_ra_state_with_pc", form{arch: cpu.ARM64, ra: 30, data: -8, init: cfa(31, 0)}, []byte{0x2c}, "cfa = $sp, ra = $lr (signed with key A) (topmost frame only)"},
		{"arm64: signed with key B", form{arch: cpu.ARM64, ra: 30, data: -8, aug: "zRB", augData: []byte{0}, init: cfa(31, 0)}, []byte{0x2d, 0x80 | 30, 1},
			"cfa = $sp, ra = [cfa − 8] (signed with key B)"},
		{"arm: no caller", form{arch: cpu.ARM, ra: 14, data: -4, init: cfa(13, 0)}, []byte{0x07, 14}, "cfa = $sp, ra = lost"},
		{"mips: saved", form{arch: cpu.MIPS, ra: 31, data: -4, init: cfa(29, 0)}, []byte{0x0e, 32, 0x80 | 31, 1, 0x80 | 30, 2}, "cfa = $sp + 32, ra = [cfa − 4], $fp = [cfa − 8]"},
		{"mips: a return address elsewhere", form{arch: cpu.MIPS64, ra: 31, data: -8, init: cfa(29, 0)}, []byte{0x09, 31, 25}, "cfa = $sp, ra = $t9"},
		{"ppc: lr by the supplement's number", form{arch: cpu.PPC, version: 3, ra: 108, data: -4, init: cfa(1, 0)}, []byte{0x0e, 16, 0x11, 108, 0x7f}, "cfa = $r1 + 16, ra = [cfa + 4]"},
		{"ppc64: lr by gcc's", form{arch: cpu.PPC64, ra: 65, data: -8, init: cfa(1, 0)}, []byte{0x11, 65, 0x7e}, "cfa = $r1, ra = [cfa + 16]"},
		{"ppc64: lr itself", form{arch: cpu.PPC64, ra: 65, data: -8, init: cfa(1, 0)}, nil, "cfa = $r1, ra = $lr (topmost frame only)"},
		{"sparc: calls save their own address", form{arch: cpu.SPARC, ra: 15, data: -4, init: cfa(14, 0)}, nil, "cfa = $sp, ra = $o7 + 8"},
		{"riscv64: a column of its own", form{arch: cpu.RISCV64, ra: 64, data: -8, aug: "zRS", augData: []byte{0}, init: cfa(2, 0)}, []byte{0x11, 64, 0x7c},
			"cfa = $sp, ra = [cfa + 32] (signal frame)"},
		{"riscv64: a column without a rule", form{arch: cpu.RISCV64, ra: 64, data: -8, init: cfa(2, 0)}, nil, "none: no rule for the return address (DWARF register 64)"},
		{"loongarch64: ra and fp below the cfa", form{arch: cpu.LoongArch64, ra: 1, data: -8, init: cfa(3, 0)}, []byte{0x0e, 16, 0x81, 1, 0x96, 2, 0x0c, 22, 0},
			"cfa = $fp, ra = [cfa − 8], $fp = [cfa − 16]"},
		{"s390x: sp is below the cfa", form{arch: cpu.S390X, ra: 14, data: -8, init: []byte{0x0c, 15, 0xa0, 1}}, nil,
			"cfa = $r15 + 160, ra = $r14, $r15 = cfa − 160 (topmost frame only)"},
		{"s390x: sp is saved", form{arch: cpu.S390X, ra: 14, data: -8, init: []byte{0x0c, 15, 0xa0, 1}}, []byte{0x8f, 5, 0x8e, 6, 0x0e, 0xc0, 2},
			"cfa = $r15 + 320, ra = [cfa − 48], $r15 = [cfa − 40]"},
		{"amd64: the stack pointer is saved", form{arch: cpu.AMD64, ra: 16, data: -8, init: []byte{0x0c, 7, 8, 0x90, 1}}, []byte{0x87, 4},
			"cfa = $rsp + 8, ra = [cfa − 8], $rsp = [cfa − 32]"},
		{"amd64: no rule for the cfa", form{arch: cpu.AMD64, ra: 16, data: -8}, nil, "none: no rule for the CFA"},
		{"amd64: a cfa of a vector register", form{arch: cpu.AMD64, ra: 16, data: -8, init: cfa(20, 8)}, nil,
			"none: the CFA depends on DWARF register 20, which is not a general register of amd64"},
		{"amd64: a cfa at an address of the file", form{arch: cpu.AMD64, ra: 16, data: -8, init: cfa(7, 8)}, []byte{0x0f, 1, 0x9c},
			"none: made.so: .eh_frame at offset 0x"},
	} {
		f := c.form
		tested[f.arch] = true
		f.order, f.code = binary.BigEndian, 4
		if f.version == 0 {
			f.version = 1
		}
		b := f.build()
		b.fde(0x1000, 0x10, c.code)
		tab := b.open(t)
		if got := at(t, tab, f.arch, 0x1004); got != c.want && !(strings.HasSuffix(c.want, "0x") && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
	for _, a := range cpu.All() {
		if !tested[a] {
			t.Errorf("no rules of %s are tested", a.Name)
		}
	}
	// The window's registers are in the save area, and the caller's own out registers in this
	// function's in registers.
	f := form{arch: cpu.SPARC, order: binary.BigEndian, version: 1, code: 4, data: -4, ra: 15, init: cfa(14, 0)}
	b := f.build()
	b.fde(0x1000, 0x10, []byte{0x0d, 30, 0x2d, 0x09, 15, 31})
	got := at(t, b.open(t), cpu.SPARC, 0x1004)
	for _, want := range []string{"cfa = $fp, ra = $i7 + 8", "$l0 = [cfa]", "$l7 = [cfa + 28]", "$fp = [cfa + 56]", "$i7 = [cfa + 60]"} {
		if !strings.Contains(got, want) {
			t.Errorf("sparc's window: %s, want %s", got, want)
		}
	}
	// Elsewhere the number is unknown.
	b = amd64Form.build()
	b.fde(0x1000, 0x10, []byte{0x41, 0x2d})
	tab := b.open(t)
	if got := at(t, tab, cpu.AMD64, 0x1000); got != "cfa = $rsp + 8, ra = [cfa − 8]" {
		t.Errorf("before an unknown instruction: %s", got)
	}
	if got := at(t, tab, cpu.AMD64, 0x1001); !strings.Contains(got, "made.so: .eh_frame at offset 0x") || !strings.Contains(got, "0x2d") {
		t.Errorf("an unknown instruction: %s", got)
	}
}

// A frame without a return address is the last one.
func TestOutermost(t *testing.T) {
	b := amd64Form.build()
	b.fde(0x1000, 0x10, []byte{0x07, 16})
	b.fde(0x1010, 0x10)
	tab := b.open(t)
	for rva, want := range map[uint64]bool{0x1000: true, 0x1010: false} {
		if row, ok, err := tab.Row(rva); err != nil || !ok || row.Outermost != want {
			t.Errorf("0x%x: %v %v %v", rva, row.Outermost, ok, err)
		}
	}
}

// esp and ebp have the numbers 4 and 5 in some i386 files and 5 and 4 in others. The rules at the
// functions' first instructions show which, in both kinds of sections.
func TestI386Numbering(t *testing.T) {
	for _, debug := range []bool{false, true} {
		for _, esp := range []byte{4, 5} {
			ebp := 9 - esp
			f := form{arch: cpu.X86, order: binary.LittleEndian, debug: debug, version: 1, code: 1, data: -4, ra: 8, init: []byte{0x0c, esp, 4, 0x88, 1}}
			b := f.build()
			for i := range uint64(20) {
				b.fde(0x1000+i*16, 16, []byte{0x41, 0x0e, 8, 0x80 | ebp, 2, 0x42, 0x0d, ebp, 0x41, 0x0f, 2, 0x70 | ebp, 8, 0x10, 3, 2, 0x70 | ebp, 0x7c})
			}
			// A few that begin in the middle of a function do not count, whatever they say.
			b.fde(0x2000, 16, []byte{0x0c, ebp, 8})
			b.fde(0x2010, 16, []byte{0x0c, esp, 0x20})
			// One from a compiler that numbers the other way round: its rows have EntryFromFP.
			b.fde(0x3000, 16, []byte{0x0c, ebp, 4}, []byte{0x41, 0x0e, 8, 0x80 | esp, 2, 0x42, 0x0d, esp})
			tab := b.open(t)
			for pc, want := range map[uint64]string{
				0x1000: "cfa = $esp + 4, ra = [cfa − 4]", 0x1001: "cfa = $esp + 8, ra = [cfa − 4], $ebp = [cfa − 8]",
				0x1003: "cfa = $ebp + 8, ra = [cfa − 4], $ebp = [cfa − 8]", 0x1004: "cfa = $ebp + 8, ra = [cfa − 4], $ebp = [cfa − 8], $ebx = [$ebp − 4]",
				0x2000: "cfa = $ebp + 8, ra = [cfa − 4]", 0x2010: "cfa = $esp + 32, ra = [cfa − 4]",
			} {
				if got := at(t, tab, cpu.X86, pc); got != want {
					t.Errorf("debug %v, esp is %d, at 0x%x: %s, want %s", debug, esp, pc, got, want)
				}
			}
			for pc, want := range map[uint64]bool{0x1000: false, 0x1003: false, 0x2000: false, 0x3000: true, 0x3001: true, 0x300f: true} {
				if row, _, _ := tab.Row(pc); row.EntryFromFP != want {
					t.Errorf("debug %v, esp is %d, at 0x%x: suspect %v", debug, esp, pc, row.EntryFromFP)
				}
			}
			row, _, _ := tab.Row(0x1000)
			if said := row.Origin.Note == dwarfcfi.NoteNumbering; said != (esp == 5) {
				t.Errorf("esp is %d: note %q", esp, row.Origin.Note)
			}
		}
	}
}

// Linkers leave entries of functions that are not there.
func TestThrownAway(t *testing.T) {
	for _, word := range []*cpu.Arch{cpu.AMD64, cpu.MIPS} {
		f := form{arch: word, order: binary.LittleEndian, debug: true, version: 1, code: 1, data: -4, ra: 31, init: []byte{0x0c, 3, 8, 0x80 | 31, 1}}
		if word == cpu.AMD64 {
			f.ra, f.init = 16, []byte{0x0c, 3, 8, 0x90, 1}
		}
		b := f.build()
		b.fde(0x1000, 0)
		b.fde(word.Mask(^uint64(0)), 0x10)
		b.fde(word.Mask(^uint64(1)), 0x10)
		b.fde(0x10, 0x10)
		b.fde(0x3000, 0x10)
		cfg := b.config()
		cfg.Base = 0x1000
		tab, err := dwarfcfi.DebugFrame(input.FromBytes("made.so", b.b), cfg)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		err = tab.Each(func(start, end uint64, row unwind.Row) error {
			if n++; start != 0x2000 || end != 0x2010 || row.Start != 0x2000 {
				t.Errorf("0x%x to 0x%x, %v", start, end, row)
			}
			return nil
		})
		if err != nil || n != 1 || len(tab.Warnings()) != 0 {
			t.Errorf("%d ranges, %v, %v", n, err, tab.Warnings())
		}
	}
}

// Each reports every change of the rules once, with its origin, and stops at an error of the
// caller.
func TestEach(t *testing.T) {
	b := amd64Form.build()
	second := b.fde(0x1010, 0x10, []byte{0x40, 0x0e, 99, 0x40, 0x0e, 8, 0x41, 0x0e, 16, 0x41, 0x0e, 16, 0x41, 0x83, 2, 0x50, 0x0e, 99})
	first := b.fde(0x1000, 0x10)
	broken := b.fde(0x1020, 0x10, []byte{0x44, 0x3a})
	tab := b.open(t)
	var got []string
	err := tab.Each(func(start, end uint64, row unwind.Row) error {
		got = append(got, fmt.Sprintf("%x-%x %s %s", start, end, row.Describe(cpu.AMD64), row.Origin))
		return nil
	})
	want := []string{
		fmt.Sprintf("1000-1010 cfa = $rsp + 8, ra = [cfa − 8] made.so .eh_frame+0x%x", first),
		fmt.Sprintf("1010-1011 cfa = $rsp + 8, ra = [cfa − 8] made.so .eh_frame+0x%x", second),
		fmt.Sprintf("1011-1013 cfa = $rsp + 16, ra = [cfa − 8] made.so .eh_frame+0x%x", second),
		fmt.Sprintf("1013-1020 cfa = $rsp + 16, ra = [cfa − 8], $rbx = [cfa − 16] made.so .eh_frame+0x%x", second),
		fmt.Sprintf("1020-1024 cfa = $rsp + 8, ra = [cfa − 8] made.so .eh_frame+0x%x", broken),
	}
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if w := tab.Warnings(); len(w) != 1 || !strings.Contains(w[0], "0x3a") {
		t.Errorf("warnings %q", w)
	}
	stop := errors.New("enough")
	if err := tab.Each(func(uint64, uint64, unwind.Row) error { return stop }); err != stop {
		t.Errorf("%v", err)
	}
}
