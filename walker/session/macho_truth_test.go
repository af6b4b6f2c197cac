package session_test

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
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
}

type machoStep struct {
	PC, SP  uint64
	Regs    map[string]uint64
	Callers []emulatedFrame
	Words   map[string]uint64
}

// outermost is where the outermost caller is: a module that is not there.
const outermost = 0x60000000

// dump makes a dump of a thread at an instruction.
func (tr *machoTrace) dump(t *testing.T, step *machoStep) []byte {
	t.Helper()
	low := step.SP &^ 15
	stack := make([]byte, tr.Top-low)
	for at, v := range step.Words {
		addr, err := strconv.ParseUint(at, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		binary.LittleEndian.PutUint64(stack[addr-low:], v)
	}
	regs := map[string]uint64{}
	for name, v := range step.Regs {
		switch name {
		case "x29":
			name = "fp"
		case "x30":
			name = "lr"
		}
		regs[name] = v
	}
	system := dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSMac}
	context := dumptest.AMD64
	if tr.Arch == "arm64" {
		system.Processor, context = dumptest.CPUARM64, dumptest.ARM64
		regs["sp"], regs["pc"] = step.SP, step.PC
	} else {
		regs["rsp"], regs["rip"] = step.SP, step.PC
	}
	id, err := hex.DecodeString(tr.UUID)
	if err != nil {
		t.Fatal(err)
	}
	uuid := dumptest.RSDS(binary.BigEndian.Uint32(id), binary.BigEndian.Uint16(id[4:]), binary.BigEndian.Uint16(id[6:]), [8]byte(id[8:]), 0, "a")
	return dumptest.New(dumptest.LittleEndian).System(system).Module(tr.Base, 0x10000000, "/usr/lib/a", uuid).Module(outermost-0x1000, 0x2000, "/usr/lib/b", nil).Thread(1, context(regs), low, stack).Bytes()
}

// differs says in what the first callers of a stack differ from the truth.
func (step *machoStep) differs(r *report.Report, swift bool) string {
	th := &r.Threads[r.FirstThread]
	for i := range step.Callers {
		want := step.Callers[i]
		if i+1 >= len(th.Frames) {
			return "frame " + strconv.Itoa(i+1) + " is missing: " + string(th.Stop.Kind) + " " + th.Stop.Detail
		}
		if swift {
			want.Regs = nil // r12 and x20 belong to nobody there
		}
		f := &th.Frames[i+1]
		if why := want.differs(f); why != "" {
			return "frame " + strconv.Itoa(i+1) + ", found by " + f.Source + " (" + f.Rule + " " + f.Origin + "): " + why + fmt.Sprintf(" ATT %+v", f.Attempts)
		}
	}
	return ""
}

// TestMachOTraces walks the stacks of Mach-O programs at each of their instructions, prologues and
// epilogues among them. $CRASHPANE_TRACES is a folder with more programs and their traces.
func TestMachOTraces(t *testing.T) {
	paths, err := filepath.Glob("../../symfile/macho/testdata/traces/*.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("CRASHPANE_TRACES"); dir != "" {
		more, err := filepath.Glob(dir)
		if err != nil || len(more) == 0 {
			t.Errorf("no traces in %s (%v)", dir, err)
		}
		paths = append(paths, more...)
	}
	for _, path := range paths {
		var tr machoTrace
		if err := json.Unmarshal(testfile.Read(t, path), &tr); err != nil {
			t.Fatal(err)
		}
		program := strings.TrimSuffix(path, ".json.gz")
		data, err := os.ReadFile(program)
		if err != nil {
			data = testfile.Read(t, program+".gz")
		}
		store := symbols.New(symbols.Options{OpenBinary: readers.Open})
		if _, err := store.AddBinary(input.FromBytes(filepath.Base(program), data)); err != nil {
			t.Fatal(err)
		}
		steps := tr.Steps
		if runtime.GOOS == "js" { // it is ten times as slow there
			steps = steps[:min(len(steps), 50)]
		}
		wrong := 0
		swift := strings.Contains(path, "swift") || strings.Contains(path, "aperture") || strings.Contains(path, "fileicon")
		for i := range steps {
			s := session.NewFiles(session.Options{Store: store, OpenBinary: readers.Open})
			s.Add(input.FromBytes("a.dmp", tr.dump(t, &steps[i])))
			if why := steps[i].differs(s.Report(0), swift); why != "" {
				if wrong++; wrong <= 5 || os.Getenv("CRASHPANE_TRACES") != "" {
					t.Logf("%s: 0x%x: %s", filepath.Base(program), steps[i].PC-tr.Base, why)
				}
			}
		}
		t.Logf("%s: %d of %d instructions right (%.2f %%)", filepath.Base(program), len(steps)-wrong, len(steps), 100*float64(len(steps)-wrong)/float64(len(steps)))
	}
}
