package sframe

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// oracle is what an emulator and a debugger said about a program (testdata/oracle): of every
// instruction that it runs the registers, the stack, and the callers that gdb found by .eh_frame.
type oracle struct {
	arch  *cpu.Arch
	CPU   string
	Steps []oracleStep
}

type oracleStep struct {
	PC        uint64
	Regs      map[string]uint64
	Low, Top  uint64
	Words     map[string]uint64
	Frames    []oracleFrame
	registers cpu.Regs
}

type oracleFrame struct {
	PC, SP uint64
	FP     *uint64
	Name   string
}

// Word is unwind.Memory's.
func (s *oracleStep) Word(addr uint64, size int) (uint64, bool) {
	if size != 8 || addr%8 != 0 || addr < s.Low || addr > s.Top-8 {
		return 0, false
	}
	return s.Words[fmt.Sprintf("%x", addr)], true
}

func openOracle(t *testing.T, name string) *oracle {
	t.Helper()
	o := &oracle{}
	if err := json.Unmarshal(testfile.Read(t, filepath.Join("testdata", "oracle", name+".json.gz")), o); err != nil {
		t.Fatal(err)
	}
	o.arch = cpu.ByName(o.CPU)
	for i := range o.Steps {
		s := &o.Steps[i]
		s.registers.Arch = o.arch
		for n, v := range s.Regs {
			if r, ok := o.arch.Lookup(n); ok {
				s.registers.Set(r, v)
			}
		}
		if !s.registers.AllKnown() {
			t.Fatalf("%x: not all registers are known", s.PC)
		}
	}
	return o
}

// linked is the .sframe section that a linker made.
func linked(t *testing.T, name string) unwind.Table {
	t.Helper()
	f, err := elf.Open(filepath.Join("testdata", "oracle", name+".elf"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(SectionName)
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	return open(t, name+".elf", data, s.Addr, 0)
}

var oracles = []struct {
	trace, elf string
	version    uint8
	key        unwind.SigningKey
	// without are functions that the section cannot describe.
	without string
}{
	{"amd64", "amd64", 3, unwind.NotSigned, ""},
	{"amd64", "amd64-v2", 2, unwind.NotSigned, "huge aligned"},
	{"arm64", "arm64", 3, unwind.KeyA, ""},
	{"arm64", "arm64-v2", 2, unwind.KeyA, ""},
	{"arm64-key-b", "arm64-key-b", 3, unwind.KeyB, ""},
	{"arm64-key-b", "arm64-key-b-v2", 2, unwind.KeyB, ""},
	{"s390x", "s390x", 3, unwind.NotSigned, ""},
}

// TestOracle unwinds from every instruction that programs of three CPUs ran, from registers and
// memory that an emulator gave, up to the first function, and compares pc, sp and frame pointer of
// every frame with gdb's. The sections are binutils' own.
func TestOracle(t *testing.T) {
	for _, tc := range oracles {
		t.Run(tc.elf, func(t *testing.T) {
			o := openOracle(t, tc.trace)
			tab := linked(t, tc.elf)
			if h := tab.(*table).Header; h.Version != tc.version {
				t.Errorf("version %d", h.Version)
			}
			o.unwindAll(t, tab, tc.without)
			if n := keys(t, tab)[tc.key]; n == 0 {
				t.Errorf("no return address is signed with key %d", tc.key)
			}
			if all := tab.Warnings(); len(all) > 0 {
				t.Errorf("warnings: %q", all)
			}
		})
	}
}

// keys counts rows by the key of their return addresses.
func keys(t *testing.T, tab unwind.Table) map[unwind.SigningKey]int {
	n := map[unwind.SigningKey]int{}
	if err := tab.Each(func(_, _ uint64, row unwind.Row) error { n[row.Signed]++; return nil }); err != nil {
		t.Error(err)
	}
	return n
}

// unwindAll walks up from every step. Functions named in without have no rules; a walk ends there.
func (o *oracle) unwindAll(t *testing.T, tab unwind.Table, without string) {
	t.Helper()
	frames, topmost := 0, 0
	for i := range o.Steps {
		s := &o.Steps[i]
		regs := s.registers
		for j, f := range s.Frames[:len(s.Frames)-1] {
			at := f.PC
			if j > 0 {
				at -= o.arch.CallSize
			}
			row, ok, err := tab.Row(at)
			if !ok && err == nil && strings.Contains(" "+without+" ", " "+f.Name+" ") {
				break
			}
			if err != nil || !ok {
				t.Fatalf("%x, frame %d (%s at %x): %v %v", s.PC, j, f.Name, f.PC, ok, err)
			}
			if row.Topmost {
				topmost++
				if j > 0 {
					t.Errorf("%x, frame %d (%s): its rules are for topmost frames: %s", s.PC, j, f.Name, row.Describe(o.arch))
				}
			}
			caller, _, err := row.Apply(&regs, s, nil)
			if err != nil {
				t.Fatalf("%x, frame %d (%s): %s: %v", s.PC, j, f.Name, row.Describe(o.arch), err)
			}
			want := s.Frames[j+1]
			fp, known := caller.Get(o.arch.FP)
			// gcc's rules for rbp outlast its restoring in a function that aligns its stack: gdb
			// then reads a word from anywhere.
			stray := !known && len(row.Saved) > 0 && row.Saved[0].Rule.Kind == unwind.AtReg
			if caller.PC() != want.PC || caller.SP() != want.SP || !stray && (known != (want.FP != nil) || known && fp != *want.FP) {
				t.Fatalf("%x, frame %d (%s): %s\ngives pc %x sp %x fp %x, gdb has %+v", s.PC, j, f.Name, row.Describe(o.arch), caller.PC(), caller.SP(), fp, want)
			}
			frames++
			regs = caller
		}
	}
	if frames < 400 || topmost == 0 && o.arch.LR != cpu.NoReg {
		t.Errorf("only %d frames, %d of them topmost", frames, topmost)
	}
	t.Logf("%d frames from %d instructions, %d by rules for topmost frames", frames, len(o.Steps), topmost)
}

// TestOracleReadelf compares the same sections with what binutils 2.47's readelf prints.
func TestOracleReadelf(t *testing.T) {
	for _, tc := range oracles {
		t.Run(tc.elf, func(t *testing.T) {
			checkReadelf(t, linked(t, tc.elf), filepath.Join("testdata", "oracle", tc.elf+".elf.sframe.txt"))
		})
	}
}

// TestOracleAgainstEHFrame compares them with the .eh_frame of the same code, at every address.
func TestOracleAgainstEHFrame(t *testing.T) {
	for _, tc := range oracles {
		t.Run(tc.elf, func(t *testing.T) {
			tab := linked(t, tc.elf)
			compared, skipped := 0, 0
			for pc, want := range ehFrameRows(t, filepath.Join("testdata", "oracle", tc.elf+".elf.ehframe.txt"), tab.(*table).arch) {
				row, ok, err := tab.Row(pc)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					if skipped++; tc.without == "" {
						t.Errorf("%x has rules in .eh_frame only", pc)
					}
					continue
				}
				got := simplified(tab.(*table).arch, &row)
				got.signed = false // readelf's table does not say it
				if want.cfa == "exp" {
					want.cfa = got.cfa
				}
				if want.fp == "exp" || want.fp == "vexp" {
					want.fp = got.fp
				}
				compared++
				if got != want {
					t.Errorf("%x: %v, .eh_frame has %v", pc, got, want)
				}
			}
			if compared < 500 {
				t.Errorf("only %d addresses compared", compared)
			}
			t.Logf("%d addresses compared, %d have rules in .eh_frame only", compared, skipped)
		})
	}
}

// s390xVersion2 writes the rules that a program's .eh_frame has as a section of version 2, whose
// rows no binutils with s390x writes any more. Functions with a CFA that version 2 has no words for
// are left out.
func s390xVersion2(t *testing.T, path string) (*madeSection, string) {
	t.Helper()
	s := &madeSection{name: "s390x-v2", order: big, version: 2, flags: 0x05, abi: 4, address: 0x1005000}
	var without []string
	number := func(text string) int64 {
		n, err := strconv.ParseInt(strings.TrimPrefix(text, "+"), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	// A place on the stack as it is, a register as an odd number.
	place := func(text string) int64 {
		if off, ok := strings.CutPrefix(text, "c"); ok {
			return number(off)
		}
		return number(strings.TrimSuffix(strings.TrimPrefix(text, "r"), "+0"))*2 + 1
	}
functions:
	for _, f := range ehFuncs(t, path, cpu.S390X) {
		fn := madeFunc{start: f.start, size: uint32(f.end - f.start), addr: 2}
		for _, r := range f.rows {
			base, off := r.cfa[:2], number(r.cfa[2:][strings.IndexAny(r.cfa[2:], "+-"):])
			if base != "sp" && base != "fp" {
				without = append(without, fmt.Sprintf("%x", f.start))
				continue functions
			}
			m := madeRow{at: uint32(r.at - f.start), sp: base == "sp", words: []int64{(off - 160) / 8}, size: 1}
			switch {
			case r.ra != "u":
				m.words = append(m.words, place(r.ra))
			case r.fp != "u":
				m.words = append(m.words, 0)
			}
			if r.fp != "u" {
				m.words = append(m.words, place(r.fp))
			}
			for _, w := range m.words {
				for w > 1<<(8*m.size-1)-1 || w < -(1<<(8*m.size-1)) {
					m.size *= 2
				}
			}
			fn.rows = append(fn.rows, m)
		}
		s.funcs = append(s.funcs, fn)
	}
	return s, strings.Join(without, " ")
}

// TestOracleS390XVersion2 is TestOracle for a section of version 2 that the tests' writer makes of
// .eh_frame.
func TestOracleS390XVersion2(t *testing.T) {
	path := filepath.Join("testdata", "oracle", "s390x.elf.ehframe.txt")
	s, without := s390xVersion2(t, path)
	if len(s.funcs) < 10 || strings.Contains(without, " ") {
		t.Fatalf("%d functions, none of %s", len(s.funcs), without)
	}
	tab, err := Open(input.FromBytes("s390x", s.bytes()), s.address, Config{})
	if err != nil {
		t.Fatal(err)
	}
	rows := ehFrameRows(t, path, cpu.S390X)
	for _, f := range s.funcs {
		for pc := f.start; pc < f.start+uint64(f.size); pc++ {
			sameRow(t, tab, pc, rows[pc])
		}
	}
	openOracle(t, "s390x").unwindAll(t, tab, "huge")
	inRegisters := 0
	tab.Each(func(_, _ uint64, row unwind.Row) error {
		if row.RA.Kind == unwind.FromReg && row.RA.Reg != cpu.S390X.LR {
			inRegisters++
		}
		return nil
	})
	if inRegisters == 0 {
		t.Error("no return address is in a floating-point register")
	}
	if all := tab.Warnings(); len(all) > 0 {
		t.Errorf("warnings: %q", all)
	}
}

// TestTopmostOnly takes rules of functions that call nothing and applies them to a frame that has
// made a call. What is in a register there is not known. So there is no caller, or one without its
// frame pointer, and not one with a register of another function. What a walker does with such
// rules is tested with the walker.
func TestTopmostOnly(t *testing.T) {
	s := section("s390x")
	tab := open(t, "s390x", s.bytes(), s.address, 0)
	row := func(pc uint64) unwind.Row {
		r, ok, err := tab.Row(pc)
		if !ok || err != nil {
			t.Fatal(pc, ok, err)
		}
		return r
	}
	var full cpu.Regs
	full.Arch = cpu.S390X
	for i := range cpu.S390X.Names {
		full.Set(cpu.Reg(i), 0x7000+uint64(i)*8)
	}
	memory := &oracleStep{Low: 0x6000, Top: 0x9000, Words: map[string]uint64{}}
	for a := memory.Low; a < memory.Top; a += 8 {
		memory.Words[fmt.Sprintf("%x", a)] = a * 2
	}
	first := row(0x100c)
	caller, _, err := first.Apply(&full, memory, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		pc   uint64
		lost string // of a caller
	}{{0x1000, "$r14"}, {0x1034, "$r14"}, {0x1080, "$f0"}, {0x108c, "$r1"}} {
		r := row(tc.pc)
		if !r.Topmost {
			t.Errorf("%x: %s", tc.pc, r.Describe(cpu.S390X))
		}
		got, _, err := r.Apply(&full, memory, nil)
		reg, _ := cpu.S390X.Lookup(tc.lost)
		if v, _ := full.Get(reg); err != nil || got.PC() != v {
			t.Errorf("%x, topmost: %v, pc %x", tc.pc, err, got.PC())
		}
		_, _, err = r.Apply(&caller, memory, nil)
		if err == nil || !strings.Contains(err.Error(), "the value of "+tc.lost+" is not known") {
			t.Errorf("%x, in a caller: %v", tc.pc, err)
		}
	}
	// RA on the stack and FP in a register.
	r := row(0x1088)
	caller.Set(cpu.S390X.FP, 0x7100)
	got, _, err := r.Apply(&caller, memory, nil)
	if r.Topmost || err != nil || got.PC() == 0 || got.Known(cpu.S390X.FP) {
		t.Errorf("%v, %s", err, r.Describe(cpu.S390X))
	}
}
