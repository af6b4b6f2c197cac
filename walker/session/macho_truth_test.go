package session_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	files "github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/walker/symbols"
)

// machoTrace is what an emulator met at each instruction of functions of a Mach-O file, and who had
// called them (symfile/macho/testdata/trace.py).
type machoTrace struct {
	Base, Top  uint64
	UUID, Arch string
	Steps      []machoStep
	Clean      []uint64 // the functions
}

type machoStep struct {
	PC, SP  uint64
	Regs    map[string]uint64
	Callers []emulatedFrame
	Words   map[string]uint64
}

// dump makes a dump of a thread at an instruction. The outermost caller is in no module. For a program
// for arm64e the return addresses on the stack have a signature, and the one in lr while it is signed.
// The emulator makes none.
func (tr *machoTrace) dump(t *testing.T, step *machoStep, program []byte) []byte {
	t.Helper()
	e := tr.Arch == "arm64" && program[8] == 2 // CPU_SUBTYPE_ARM64E
	sign := func(v uint64, signed bool) uint64 {
		if e && signed && slices.ContainsFunc(step.Callers, func(c emulatedFrame) bool { return c.PC == v }) {
			v |= 0x7e2a8 << 44 // on macOS an address has 47 bits, and bit 55 says whose it is
		}
		return v
	}
	low := step.SP &^ 15
	stack := make([]byte, tr.Top-low)
	for at, v := range step.Words {
		addr, err := strconv.ParseUint(at, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if tr.Arch == "x86" {
			binary.LittleEndian.PutUint32(stack[addr-low:], uint32(v))
		} else {
			binary.LittleEndian.PutUint64(stack[addr-low:], sign(v, true))
		}
	}
	regs := map[string]uint64{}
	for name, v := range step.Regs {
		switch name {
		case "x29":
			name = "fp"
		case "x30":
			name, v = "lr", sign(v, e && tr.signedAt(program, step.PC))
		}
		regs[name] = v
	}
	system, context := dumptest.System{Platform: dumptest.OSMac}, dumptest.AMD64
	switch tr.Arch {
	case "x86_64":
		system.Processor = dumptest.CPUAMD64
		regs["rsp"], regs["rip"] = step.SP, step.PC
	case "arm64":
		system.Processor, context = dumptest.CPUARM64, dumptest.ARM64
		regs["sp"], regs["pc"] = step.SP, step.PC
	case "x86":
		system.Processor, context = dumptest.CPUX86, dumptest.X86
		regs["esp"], regs["eip"] = step.SP, step.PC
	}
	id, err := hex.DecodeString(tr.UUID)
	if err != nil {
		t.Fatal(err)
	}
	uuid := dumptest.RSDS(binary.BigEndian.Uint32(id), binary.BigEndian.Uint16(id[4:]), binary.BigEndian.Uint16(id[6:]), [8]byte(id[8:]), 0, "a")
	return dumptest.New(dumptest.LittleEndian).System(system).Module(tr.Base, 0x10000000, "/usr/lib/a", uuid).Thread(1, context(regs), low, stack).Bytes()
}

// signedAt: of the instructions of a function before an address, the last one that signs or
// authenticates the return address signs it.
func (tr *machoTrace) signedAt(program []byte, pc uint64) (signed bool) {
	from := uint64(0)
	for _, f := range tr.Clean {
		if f <= pc {
			from = f
		}
	}
	for at := from; at < pc; at += 4 {
		switch binary.LittleEndian.Uint32(program[at-tr.Base:]) {
		case 0xd503237f: // pacibsp
			signed = true
		case 0xd50323ff: // autibsp
			signed = false
		}
	}
	return signed
}

// differs says in what the callers of a stack differ from the truth. With Swift, registers are left
// out: there calls change some that C's preserve.
func (step *machoStep) differs(r *report.Report, swift bool) string {
	th := &r.Threads[r.FirstThread]
	for i, want := range step.Callers {
		if i+1 >= len(th.Frames) {
			return fmt.Sprintf("frame %d is missing: %s %s", i+1, th.Stop.Kind, th.Stop.Detail)
		}
		if swift {
			want.Regs = nil
		}
		f := &th.Frames[i+1]
		if why := want.differs(f); why != "" {
			return fmt.Sprintf("frame %d, found by %s (%s; %s): %s, after %+v", i+1, f.Source, f.Rule, f.Origin, why, f.Attempts)
		}
	}
	return ""
}

// TestMachOTraces walks the stacks of Mach-O programs at every fifth of their instructions, prologues
// and epilogues among them: pc, sp and the registers that calls preserve, of every caller.
// $CRASHPANE_TRACES names more traces, whose programs are next to them: of those all. README.md in the folder says how
// they are made.
func TestMachOTraces(t *testing.T) {
	paths, err := filepath.Glob("../../symfile/macho/testdata/traces/*.json.gz")
	if err != nil || len(paths) < 4 {
		t.Fatalf("%d traces, %v", len(paths), err)
	}
	least := 20
	if runtime.GOOS == "js" { // which walks fewer
		least = 2
	}
	for _, path := range paths {
		right, all := walkTrace(t, path, 5, nil, false)
		if t.Logf("%s: %d of %d instructions", filepath.Base(path), right, all); right < all || all < least {
			t.Errorf("%s: %d of %d instructions are right", path, right, all)
		}
	}
	more, err := filepath.Glob(os.Getenv("CRASHPANE_TRACES"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range more {
		right, all := walkTrace(t, path, 1, nil, false)
		if t.Logf("%s: %d of %d instructions (%.2f %%)", filepath.Base(path), right, all, 100*float64(right)/float64(all)); 1000*right < 995*all {
			t.Errorf("%s: less than 99.5 %% are right", path)
		}
	}
}

// TestMachOStripped: the same without the names that strip removes. The program lists its functions.
func TestMachOStripped(t *testing.T) {
	for _, name := range []string{"philox-arm64", "philox-x86_64"} {
		right, all := walkTrace(t, "../../symfile/macho/testdata/traces/"+name+".json.gz", 19, withoutLocals, false)
		if right < all || all < 10 {
			t.Errorf("%s: %d of %d instructions are right", name, right, all)
		}
	}
}

// withoutLocals removes the local symbols from the symbol table of a file: they are its first.
func withoutLocals(program []byte) {
	const symtab, dysymtab = 2, 11
	le, at := binary.LittleEndian, 32
	var symbols, locals int
	for range le.Uint32(program[16:]) {
		switch le.Uint32(program[at:]) {
		case symtab:
			symbols = at + 8
		case dysymtab:
			locals = int(le.Uint32(program[at+12:]))
			clear(program[at+8 : at+16])
		}
		at += int(le.Uint32(program[at+4:]))
	}
	le.PutUint32(program[symbols:], le.Uint32(program[symbols:])+16*uint32(locals))
	le.PutUint32(program[symbols+4:], le.Uint32(program[symbols+4:])-uint32(locals))
}

// TestMachOSym: a symbol file that was made of a program has its rules and those that its code shows.
func TestMachOSym(t *testing.T) {
	paths, err := filepath.Glob("../../symfile/macho/testdata/traces/*.json.gz")
	if err != nil || len(paths) < 4 {
		t.Fatalf("%d traces, %v", len(paths), err)
	}
	for _, path := range paths {
		right, all := walkTrace(t, path, 11, nil, true)
		if t.Logf("%s: %d of %d instructions", filepath.Base(path), right, all); right < all || all < 1 {
			t.Errorf("%s: %d of %d instructions are right", path, right, all)
		}
	}
}

// walkTrace walks every nth stack of a trace and says how many are right. change, if it is set, changes
// the program before. With sym a symbol file of the program is used.
func walkTrace(t *testing.T, path string, nth int, change func(program []byte), sym bool) (right, all int) {
	t.Helper()
	var tr machoTrace
	if err := json.Unmarshal(testfile.Read(t, path), &tr); err != nil {
		t.Fatal(err)
	}
	program := strings.TrimSuffix(path, ".json.gz")
	data, err := os.ReadFile(program)
	if err != nil {
		data = testfile.Read(t, program+".gz")
	}
	if change != nil {
		change(data)
	}
	store := symbols.New(symbols.Options{OpenBinary: readers.Open})
	src := input.FromBytes(filepath.Base(program), data)
	if sym {
		var text bytes.Buffer
		b, err := files.Open(src)
		if err == nil {
			_, err = b.WriteSym(&text, files.SymOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = store.AddSym(input.FromBytes("a.sym", text.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
	} else if _, err := store.AddBinary(src); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "js" { // it is ten times as slow there
		nth *= 20
	}
	for i := 0; i < len(tr.Steps); i += nth {
		s := session.NewFiles(session.Options{Store: store, OpenBinary: readers.Open})
		s.Add(input.FromBytes("a.dmp", tr.dump(t, &tr.Steps[i], data)))
		all++
		if why := tr.Steps[i].differs(s.Report(0), strings.Contains(path, "swift")); why == "" {
			right++
		} else {
			t.Logf("%s: 0x%x: %s", filepath.Base(program), tr.Steps[i].PC-tr.Base, why)
		}
	}
	return right, all
}
