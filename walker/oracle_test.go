package walker

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/dwarfcfi"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

var update = flag.Bool("update", false, "write the goldens again")

const oracleDir = "../testdata/oracle"

// oracle is a program of testdata/oracle and what gdb said about each of its instructions.
type oracle struct {
	name  string
	arch  *cpu.Arch
	file  *elf.File
	funcs []elf.Symbol
	// table is the call frame information to walk with, or nil.
	table unwind.Table
	Steps []oracleStep
}

type oracleStep struct {
	PC, SP, At uint64
	Regs       map[string]uint64
	Stack      string
	Frames     []struct {
		PC, SP uint64
		Name   string
	}
}

var oracleCPUs = []struct {
	name string
	arch *cpu.Arch
}{
	{"amd64", cpu.AMD64}, {"x86", cpu.X86}, {"arm64", cpu.ARM64}, {"arm", cpu.ARM}, {"thumb", cpu.ARM}, {"mips", cpu.MIPS}, {"mips64", cpu.MIPS64},
	{"ppc", cpu.PPC}, {"ppc64", cpu.PPC64}, {"riscv64", cpu.RISCV64}, {"s390x", cpu.S390X},
	{"amd64fp", cpu.AMD64}, {"x86fp", cpu.X86}, {"x86rtd", cpu.X86}, {"arm64fp", cpu.ARM64}, {"arm64fpleaf", cpu.ARM64}, {"riscv64fp", cpu.RISCV64},
	{"loongarch64", cpu.LoongArch64}, {"loongarch64fp", cpu.LoongArch64},
}

func openOracle(t *testing.T, name string, arch *cpu.Arch) *oracle {
	t.Helper()
	o := &oracle{name: name, arch: arch}
	err := json.Unmarshal(testfile.Read(t, filepath.Join(oracleDir, name+".json.gz")), o)
	if err == nil {
		o.file, err = elf.Open(filepath.Join(oracleDir, name+".elf"))
	}
	if err != nil {
		t.Fatal(err)
	}
	syms, err := o.file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range syms {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC {
			continue
		}
		if arch == cpu.ARM {
			s.Value &^= 1
		}
		if o.file.Machine == elf.EM_PPC64 {
			// The symbol is of a descriptor, whose first word is the code's address.
			if opd := o.file.Section(".opd"); opd != nil && s.Value >= opd.Addr {
				data, _ := opd.Data()
				s.Value = o.file.ByteOrder.Uint64(data[s.Value-opd.Addr:])
			}
		}
		o.funcs = append(o.funcs, s)
	}
	sort.Slice(o.funcs, func(i, j int) bool { return o.funcs[i].Value < o.funcs[j].Value })
	return o
}

// Known and the rest answer for the program as a .sym file with nothing but FUNC records would. The
// module begins at 0.

func (o *oracle) Lookup(_ int, rva uint64) (symbol.Symbol, symbol.Answer) {
	i := sort.Search(len(o.funcs), func(i int) bool { return o.funcs[i].Value > rva }) - 1
	if i < 0 || rva >= o.funcs[i].Value+o.funcs[i].Size {
		return symbol.Symbol{}, symbol.No
	}
	return symbol.Symbol{Name: o.funcs[i].Name, Start: o.funcs[i].Value, Size: o.funcs[i].Size}, symbol.Yes
}

func (o *oracle) Row(_ int, rva uint64) (unwind.Row, symbol.Answer) {
	if o.table != nil {
		if row, ok, err := o.table.Row(rva); ok && err == nil {
			return row, symbol.Yes
		}
	}
	return unwind.Row{}, symbol.No
}

func (*oracle) Function(int, uint64) (symbol.Range, bool) { return symbol.Range{}, false }

func (o *oracle) FrameData(int, uint64) (unwind.FrameData, symbol.Answer) {
	return unwind.FrameData{}, symbol.No
}

// Read is the program's code.
func (o *oracle) Read(addr uint64, p []byte) int {
	for _, seg := range o.file.Progs {
		if seg.Type == elf.PT_LOAD && addr >= seg.Vaddr && addr < seg.Vaddr+seg.Filesz {
			n, _ := seg.ReadAt(p, int64(addr-seg.Vaddr))
			return n
		}
	}
	return 0
}

type oracleMemory struct {
	at    uint64
	bytes []byte
	order binary.ByteOrder
}

func (m *oracleMemory) Word(addr uint64, size int) (uint64, bool) {
	if addr < m.at || addr-m.at+uint64(size) > uint64(len(m.bytes)) {
		return 0, false
	}
	b := m.bytes[addr-m.at:]
	if size == 4 {
		return uint64(m.order.Uint32(b)), true
	}
	return m.order.Uint64(b), true
}

// end is above the program's last byte in memory.
func (o *oracle) end() (end uint64) {
	for _, seg := range o.file.Progs {
		if seg.Type == elf.PT_LOAD {
			end = max(end, seg.Vaddr+seg.Memsz)
		}
	}
	return end
}

// walk is the stack at a step. code says whether the dump has the program's instructions.
func (o *oracle) walk(st *oracleStep, p Policy, code bool) Stack {
	regs := cpu.Regs{Arch: o.arch}
	for name, v := range st.Regs {
		if r, ok := o.arch.Lookup(name); ok {
			regs.Set(r, v)
		}
	}
	regs.Set(o.arch.PC, st.PC)
	regs.Set(o.arch.SP, st.SP)
	raw, _ := hex.DecodeString(st.Stack)
	// One module from 0 on, so that module-relative addresses are the file's own.
	w := New(p, core.OSLinux, oneModule(0, o.end()), o)
	if code {
		w.Code = o
	}
	w.BigEndian = o.file.ByteOrder == binary.ByteOrder(binary.BigEndian)
	return w.Walk(regs, &oracleMemory{st.At, raw, o.file.ByteOrder})
}

// right says how many of gdb's frames a stack has in their places, by pc, until the first that is
// not there, and whether all are and the stack then ends.
func (st *oracleStep) right(s Stack, thumb uint64) (n int, whole bool) {
	for n < len(st.Frames) && n < len(s.Frames) && s.Frames[n].PC&^thumb == st.Frames[n].PC {
		n++
	}
	return n, n == len(st.Frames) && n == len(s.Frames)
}

// TestOracleWithoutCallFrameInformation counts what is found without call frame information, with
// the functions' names and sizes alone, at every instruction of a program that was compiled without
// frame pointers. It counts the stacks that are gdb's, frame by frame, and the frames of gdb's that
// are found before the first wrong or missing one. The golden also has both peers' figures. It may
// only become better.
func TestOracleWithoutCallFrameInformation(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "%-11s %6s %7s", "cpu", "stacks", "frames")
	ways := []struct {
		name   string
		policy Policy
		code   bool
	}{{"best+code", Best, true}, {"best", Best, false}, {"breakpad", Breakpad, false}, {"rust-minidump", RustMinidump, false}}
	for _, w := range ways {
		fmt.Fprintf(&b, "  %-15s", w.name)
	}
	b.WriteByte('\n')
	for _, c := range oracleCPUs {
		o := openOracle(t, c.name, c.arch)
		var thumb uint64
		if c.arch == cpu.ARM {
			thumb = 1
		}
		frames := 0
		for i := range o.Steps {
			frames += len(o.Steps[i].Frames)
		}
		fmt.Fprintf(&b, "%-11s %6d %7d", o.name, len(o.Steps), frames)
		for _, w := range ways {
			whole, found := 0, 0
			for i := range o.Steps {
				st := &o.Steps[i]
				s := o.walk(st, w.policy, w.code)
				n, all := st.right(s, thumb)
				found += n
				if all {
					whole++
				}
				if testing.Verbose() && !all && w.name == "best+code" {
					t.Logf("%s %s: %s", o.name, st.Frames[0].Name, describeWrong(st, s, n))
				}
			}
			fmt.Fprintf(&b, "  %6d %8d", whole, found)
		}
		b.WriteByte('\n')
	}
	golden := "testdata/oracle-without-cfi.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, _ := os.ReadFile(golden)
	if string(want) != b.String() {
		t.Errorf("%s says\n%s\nit is\n%s", golden, want, b.String())
	}
}

func describeWrong(st *oracleStep, s Stack, n int) string {
	want, have := "the end", "the end: "+s.Stop.Detail
	if n < len(st.Frames) {
		want = fmt.Sprintf("0x%x %s sp 0x%x", st.Frames[n].PC, st.Frames[n].Name, st.Frames[n].SP)
	}
	if n < len(s.Frames) {
		f := &s.Frames[n]
		have = fmt.Sprintf("0x%x %s sp 0x%x %s", f.PC, f.Symbol.Name, f.Regs.SP(), f.Trust)
	}
	return fmt.Sprintf("at 0x%x frame %d is %s, we have %s", st.PC, n, want, have)
}

// section is a part of the program as a file of its own, or nil.
func (o *oracle) section(t *testing.T, name string) (*input.Source, uint64) {
	t.Helper()
	s := o.file.Section(name)
	if s == nil {
		return nil, 0
	}
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	return input.FromBytes(o.name+".elf", data), s.Addr
}

// With the program's call frame information every stack is gdb's: each frame's pc and sp, at every
// instruction, up to _start.
func TestOracleWithCallFrameInformation(t *testing.T) {
	for _, c := range oracleCPUs {
		if c.arch == cpu.LoongArch64 {
			continue // clang describes no epilogues there
		}
		o := openOracle(t, c.name, c.arch)
		size := 4
		if o.file.Class == elf.ELFCLASS64 {
			size = 8
		}
		cfg := dwarfcfi.Config{Arch: o.arch, Order: o.file.ByteOrder, AddressSize: size, File: o.name + ".elf"}
		var err error
		if frame, at := o.section(t, ".eh_frame"); frame != nil {
			o.table, err = dwarfcfi.EHFrame(frame, at, nil, 0, cfg)
		} else if frame, _ := o.section(t, ".debug_frame"); frame != nil {
			o.table, err = dwarfcfi.DebugFrame(frame, cfg)
		} else {
			t.Fatalf("%s has no call frame information", o.name)
		}
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for i := range o.Steps {
			st := &o.Steps[i]
			s := o.walk(st, Best, true)
			for n, f := range st.Frames {
				if n < len(s.Frames) && s.Frames[n].PC&^1 == f.PC&^1 && s.Frames[n].Regs.SP() == f.SP {
					continue
				}
				if wrong++; wrong <= 5 {
					t.Errorf("%s %s: %s", o.name, st.Frames[0].Name, describeWrong(st, s, n))
				}
				break
			}
		}
		t.Logf("%s: %d of %d stacks are gdb's", o.name, len(o.Steps)-wrong, len(o.Steps))
	}
}
