package binary_test

import (
	"bytes"
	encoding "encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// peTraces are PE files and what an emulator saw at each of their instructions
// (../pe/testdata/make.sh).
const peTraces = "../pe/testdata/"

// trace is what trace.py wrote: the callers of every instruction, as the calls made them.
type trace struct {
	Base, Top uint64
	Steps     []struct {
		PC, SP  uint64
		Regs    map[string]uint64
		Callers []struct {
			PC, SP uint64
			Regs   map[string]uint64
		}
		Words map[string]uint64
	}
}

func readTrace(t *testing.T, path string) *trace {
	t.Helper()
	tr := &trace{}
	if err := json.Unmarshal(testfile.Read(t, path), tr); err != nil {
		t.Fatal(err)
	}
	return tr
}

// traceWords are the words of a stack between two addresses; those that are not mentioned are 0.
type traceWords struct {
	words    map[uint64]uint64
	from, to uint64
}

func (m *traceWords) Word(addr uint64, size int) (uint64, bool) {
	if addr < m.from || addr+uint64(size) > m.to || addr%uint64(size) != 0 {
		return 0, false
	}
	return m.words[addr], true
}

// rowsOf are the unwind rules of a file, by RVA.
type rowsOf func(rva uint64) (unwind.Row, symbol.Answer, error)

// At every instruction of a program, prologues and epilogues among them, the rules of a PE file
// lead through all callers, with all registers that calls preserve; and so do those of the symbol
// file that is made of it. $CRASHPANE_TRACES is a folder with more programs and their traces, which
// functions.py makes.
func TestTracesPE(t *testing.T) {
	paths, err := filepath.Glob(peTraces + "*.json.gz")
	if err != nil || len(paths) < 16 {
		t.Fatalf("%d traces, %v", len(paths), err)
	}
	if dir := os.Getenv("CRASHPANE_TRACES"); dir != "" {
		more, err := filepath.Glob(filepath.Join(dir, "*.json.gz"))
		if err != nil || len(more) == 0 {
			t.Errorf("no traces in %s (%v)", dir, err)
		}
		paths = append(paths, more...)
	}
	for _, path := range paths {
		if strings.Contains(path, "arm64ec") {
			continue // TestTracesARM64EC
		}
		if strings.HasPrefix(filepath.Base(path), "x86") {
			continue // x86's rules need the callee's parameters, which the walker knows (TestX86Traces in walker/session)
		}
		program := strings.TrimSuffix(path, ".json.gz")
		if filepath.Ext(program) == "" {
			program += ".dll"
		}
		b := open(t, program)
		tr := readTrace(t, path)
		var text bytes.Buffer
		if _, err := b.WriteSym(&text, binary.SymOptions{}); err != nil {
			t.Fatal(err)
		}
		s := readSym(t, "made.sym", text.String())
		cfi := s.file.CFITable(b.Arch())
		for _, from := range []struct {
			what string
			rows rowsOf
		}{{"binary", b.Row}, {"symbol file", func(rva uint64) (unwind.Row, symbol.Answer, error) {
			row, ok, err := cfi.Row(rva)
			if ok {
				return row, symbol.Yes, err
			}
			return row, symbol.No, err
		}}} {
			wrong, frames := 0, 0
			for i := range tr.Steps {
				n, why := tr.follow(i, b, from.rows)
				if frames += n; why != "" {
					if wrong++; wrong <= 5 {
						t.Errorf("%s, %s: pc 0x%x: %s", filepath.Base(path), from.what, tr.Steps[i].PC, why)
					}
				}
			}
			t.Logf("%s, %s: %d of %d instructions right, %d frames", filepath.Base(path), from.what, len(tr.Steps)-wrong, len(tr.Steps), frames)
		}
		if w := b.Warnings(); len(w) > 0 {
			t.Errorf("%s: %q", path, w)
		}
	}
}

// changesR4 is the second instruction of arm's __chkstk, the first function of the files: it hands
// its result back in r4, which calls preserve otherwise.
const changesR4 = 0x1004

// follow unwinds one instruction's stack and says in what it differs; n is how many frames were
// right.
func (tr *trace) follow(i int, b *binary.File, rows rowsOf) (n int, why string) {
	step, arch := &tr.Steps[i], b.Arch()
	mem := &traceWords{map[uint64]uint64{}, step.SP, tr.Top}
	for at, v := range step.Words {
		addr, err := strconv.ParseUint(at, 16, 64)
		if err != nil {
			return 0, err.Error()
		}
		mem.words[addr] = v
	}
	regs := cpu.Regs{Arch: arch}
	for name, v := range step.Regs {
		r, ok := arch.Lookup(name)
		if !ok {
			return 0, "there is no register " + name
		}
		regs.Set(r, v)
	}
	regs.Set(arch.PC, step.PC)
	regs.Set(arch.SP, step.SP)
	for k, want := range step.Callers {
		at := regs.PC() - tr.Base
		if k > 0 {
			at -= arch.CallSize
		}
		row, ans, err := rows(at)
		if ans != symbol.Yes || err != nil {
			return n, fmt.Sprintf("frame %d: no row (%v)", k, err)
		}
		if row.Topmost && k > 0 {
			return n, fmt.Sprintf("frame %d: the rules are for the youngest frame: %s", k, row.Describe(arch))
		}
		next, _, err := row.Apply(&regs, mem, nil)
		if err != nil {
			return n, fmt.Sprintf("frame %d: %v", k, err)
		}
		pc := next.PC()
		if arch == cpu.ARM {
			pc &^= 1
		}
		if pc != want.PC || next.SP() != want.SP {
			return n, fmt.Sprintf("frame %d: pc 0x%x sp 0x%x, not pc 0x%x sp 0x%x, by %s", k, pc, next.SP(), want.PC, want.SP, row.Describe(arch))
		}
		for name, v := range want.Regs {
			r, _ := arch.Lookup(name)
			if is, known := next.Get(r); !known || is != v {
				if arch == cpu.ARM && k == 0 && at == changesR4 && name == "r4" {
					continue
				}
				return n, fmt.Sprintf("frame %d: %s 0x%x (known: %v), not 0x%x, by %s", k, name, is, known, v, row.Describe(arch))
			}
		}
		next.Set(arch.PC, pc)
		regs = next
		n++
	}
	return n, ""
}

// TestTracesARM64EC: in a file for x64 code of ARM64EC is unwound by its own function table, with
// x64's registers in which the system keeps those of ARM64. If a function has not stored its
// return address, it is in lr, which an x64 context has elsewhere: there are no rules. Code of x64
// is unwound by the exception directory.
func TestTracesARM64EC(t *testing.T) {
	b, tr := open(t, peTraces+"arm64ec.dll"), readTrace(t, peTraces+"arm64ec.json.gz")
	if w := b.Warnings(); len(w) > 0 || b.Arch() != cpu.AMD64 || b.Identity().Kind != "library (arm64ec)" {
		t.Fatal(w, b.Identity())
	}
	names := map[string]string{"x27": "rbx", "x29": "rbp", "x25": "rsi", "x26": "rdi", "x19": "r12", "x20": "r13", "x21": "r14", "x22": "r15"}
	turn := func(regs map[string]uint64) map[string]uint64 {
		out := map[string]uint64{}
		for arm, x64 := range names {
			out[x64] = regs[arm]
		}
		return out
	}
	right, inLR := 0, 0
	for i := range tr.Steps {
		s := &tr.Steps[i]
		lr := s.Regs["x30"]
		s.Regs = turn(s.Regs)
		for k := range s.Callers {
			s.Callers[k].Regs = turn(s.Callers[k].Regs)
		}
		switch n, why := tr.follow(i, b, b.Row); {
		case why == "":
			right++
		case n == 0 && strings.Contains(why, "no row") && lr == s.Callers[0].PC:
			inLR++
		default:
			t.Errorf("pc 0x%x: %s", s.PC, why)
		}
	}
	t.Logf("%d of %d instructions right, at %d the return address is in lr", right, len(tr.Steps), inLR)
	if right < 110 || right+inLR != len(tr.Steps) {
		t.Errorf("%d of %d instructions are right, at %d the return address is in lr", right, len(tr.Steps), inLR)
	}
	x64 := 0
	for rva := uint64(0x2000); rva < 0x3010; rva++ {
		row, ans, err := b.Row(rva)
		if err != nil {
			t.Fatal(err)
		}
		if ans == symbol.Yes && !row.Topmost {
			x64++
		}
	}
	if x64 < 20 {
		t.Errorf("%d bytes of x64 code have rules", x64)
	}
	// The symbol file says the same.
	s := readSym(t, "made.sym", sym(t, b))
	cfi := s.file.CFITable(cpu.AMD64)
	for i := range tr.Steps {
		rva := tr.Steps[i].PC - tr.Base
		row, ans, _ := b.Row(rva)
		have, ok, err := cfi.Row(rva)
		if err != nil || ok != (ans == symbol.Yes) || ok && (!have.CFA.Equal(row.CFA) || !have.RA.Equal(row.RA)) {
			t.Errorf("0x%x: %s, its symbol file %s (%v)", rva, row.Describe(cpu.AMD64), have.Describe(cpu.AMD64), err)
		}
	}
}

// What a PE file says about itself, and what there is of it: with a PDB that is not here, or with
// DWARF.
func TestPE(t *testing.T) {
	b := open(t, peTraces+"x64.dll")
	id := b.Identity()
	if id.Name != "t.pdb" || id.CodeName != "x64.dll" || id.OS != "windows" || id.Arch != "x86_64" || id.Kind != "library" || !id.Code || len(id.DebugID) != 33 || len(id.CodeID) != 12 {
		t.Errorf("%+v", id)
	}
	has := b.Has()
	if !has.CFI || !has.OnlyExports || has.Functions || len(has.Missing) != 1 || has.Missing[0] != "the debug information t.pdb (id "+id.DebugID+")" {
		t.Errorf("%+v", has)
	}
	// What is after an exported function is not called by its name.
	for rva, want := range map[uint64]string{0x1000: "", 0x1140: "run", 0x1150: "run", 0x1010: ""} {
		if s, ans, err := b.Lookup(rva); s.Name != want || err != nil || (ans == symbol.Yes) != (want != "") {
			t.Errorf("0x%x: %q %v %v", rva, s.Name, ans, err)
		}
	}
	text := sym(t, b)
	for _, line := range []string{"MODULE windows x86_64 " + id.DebugID + " t.pdb\n", "INFO CODE_ID " + strings.ToUpper(id.CodeID) + " x64.dll\n", "PUBLIC 1140 0 run\n", "STACK CFI INIT 1000 "} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%.600s", line, text)
		}
	}
	b = open(t, peTraces+"dwarf.dll")
	if has := b.Has(); !has.CFI || !has.Functions || !has.Lines || has.OnlyExports || len(has.Missing) > 0 {
		t.Errorf("%+v", has)
	}
	if text := sym(t, b); !strings.HasPrefix(text, "MODULE windows x86_64 000000000000000000000000000000000 dwarf.dll\n") {
		t.Errorf("%.200s", text)
	}
	found := 0
	b.Publics(func(rva uint64, name string) error {
		s, ans, err := b.Lookup(rva)
		if name == "run" || name == "varargs" {
			if found++; ans != symbol.Yes || err != nil || s.Name != name || s.Public || !s.HasLine || !strings.HasSuffix(s.File, "t.c") {
				t.Errorf("%s: %+v (%v)", name, s, err)
			}
		}
		return nil
	})
	if found != 2 {
		t.Errorf("%d names", found)
	}
	if b = open(t, peTraces+"x86.dll"); b.Has().CFI || !b.Has().OnlyExports {
		t.Errorf("x86: %+v", b.Has())
	}
	if row, ans, _ := b.Row(0x1010); ans != symbol.No {
		t.Errorf("x86: %v", row)
	}
}

// A file with code of two processors has a function table that is not that of its header's
// processor.
func TestHybridPE(t *testing.T) {
	data, err := os.ReadFile(peTraces + "x64.dll")
	if err != nil {
		t.Fatal(err)
	}
	const arm64EC = 0xa641
	le.PutUint16(data[le.Uint32(data[60:])+4:], arm64EC)
	b, err := binary.Open(input.FromBytes("a.dll", data))
	if err != nil {
		t.Fatal(err)
	}
	if row, ans, err := b.Row(0x1010); ans != symbol.No || err != nil {
		t.Errorf("%v %v", row, err)
	}
	if w := b.Warnings(); len(w) != 1 || !strings.Contains(w[0], "ARM64EC") || b.Identity().Kind != "library (arm64ec)" {
		t.Errorf("%q %+v", w, b.Identity())
	}
}

var le = encoding.LittleEndian
