package session_test

import (
	"bytes"
	encoding "encoding/binary"
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
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/pe"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/session"
)

// symbolsOf is the symbol file of binaries.
func symbolsOf(t *testing.T, files ...*input.Source) []byte {
	t.Helper()
	b, err := binary.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files[1:] {
		if took, err := b.Attach(f); err != nil || !took {
			t.Fatal(f.Name, took, err)
		}
	}
	var text bytes.Buffer
	if _, err := b.WriteSym(&text, binary.SymOptions{}); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// unknowable are the instructions of x86's traces at which no file tells where the return address
// is: frame data counts no arguments that are pushed for a call, and where they were pushed and not
// yet taken off, an old return address lies at the computed place. At the third the right address,
// which is in no module, is found, and a word below it is taken for it (Breakpad's help for wrong
// records, which the code would refute).
var unknowable = map[string]bool{
	"x86, program and PDB: 10001232": true, "x86, symbol file: 10001232": true,
	"x86, program and PDB: 10001237": true, "x86, symbol file: 10001237": true,
	"x86, symbol file: 100011da": true,
}

// TestX86Traces walks the stacks of x86 programs at each of their instructions, prologues and
// epilogues among them, by the program and its PDB and by the symbol file that is made of both: pc,
// sp and the registers that calls preserve, of every caller. How the traces were made says
// symfile/pe/testdata/make.sh.
func TestX86Traces(t *testing.T) {
	const dir = "../../symfile/pe/testdata/"
	for _, name := range []string{"x86", "x86-O0", "x86-aligned", "x86-aligned-O0"} {
		var tr struct {
			Base, Top uint64
			Steps     []struct {
				PC, SP  uint64
				Regs    map[string]uint64
				Callers []emulatedFrame
				Words   map[string]uint64
			}
		}
		if err := json.Unmarshal(testfile.Read(t, dir+name+".json.gz"), &tr); err != nil {
			t.Fatal(err)
		}
		exe, err := os.ReadFile(dir + name + ".dll")
		if err != nil {
			t.Fatal(err)
		}
		program, pdb := input.FromBytes("t.dll", exe), input.FromBytes("t.pdb", testfile.Read(t, dir+name+".pdb.gz"))
		p, err := pe.Open(program)
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(exe, []byte("RSDS"))
		codeView := dumptest.Raw(exe[at : at+24+len("t.pdb")+1])
		made := input.FromBytes("t.sym", symbolsOf(t, program, pdb))
		steps := tr.Steps
		if runtime.GOOS == "js" { // it is ten times as slow there
			steps = steps[:20]
		}
		for what, files := range map[string][]*input.Source{"program and PDB": {program, pdb}, "symbol file": {made}} {
			right, frames := 0, 0
			for _, step := range steps {
				stack := make([]byte, tr.Top+0x20-step.SP)
				for at, v := range step.Words {
					addr, err := strconv.ParseUint(at, 16, 64)
					if err != nil {
						t.Fatal(err)
					}
					encoding.LittleEndian.PutUint32(stack[addr-step.SP:], uint32(v))
				}
				regs := map[string]uint64{"eip": step.PC, "esp": step.SP}
				for r, v := range step.Regs {
					regs[r] = v
				}
				d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUX86, Platform: dumptest.OSWindows}).
					Module(tr.Base, p.ImageSize, `C:\t.dll`, codeView).Thread(1, dumptest.X86(regs), step.SP, stack)
				s := session.NewFiles(session.Options{OpenBinary: readers.Open})
				s.Add(input.FromBytes("t.dmp", d.Bytes()))
				for _, f := range files {
					if it := s.Add(f)[0]; !it.Usable {
						t.Fatal(it.Message)
					}
				}
				why, where := compareEmulated(s.Report(0), step.Callers), fmt.Sprintf("%s, %s: %x", name, what, step.PC)
				if (why != "") != unknowable[where] {
					t.Errorf("%s: %q, known to be wrong: %v", where, why, unknowable[where])
				}
				if why != "" {
					continue
				}
				right++
				frames += len(step.Callers)
			}
			t.Logf("%s, %s: %d of %d instructions right, %d frames", name, what, right, len(steps), frames)
		}
	}
}

// TestUnwindEmulatedX86 walks the dumps of x86 programs that an emulator stopped at every 37th
// instruction.
func TestUnwindEmulatedX86(t *testing.T) {
	corpus(t)
	root := filepath.Join(corpusRoot, "winapple/emulated")
	for name, least := range map[string]int{"deep-i686-O0": 43, "deep-i686-O2": 26} {
		emulatedByBoth(t, root, name, least)
	}
}

// emulatedByBoth walks the dumps of a program by its files and by the symbol file made of them.
func emulatedByBoth(t *testing.T, root, name string, least int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name, name+".dll.truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dumps []emulatedDump
	if err := json.Unmarshal(b, &dumps); err != nil || len(dumps) < least {
		t.Fatalf("%s: %d dumps, there were %d (%v)", name, len(dumps), least, err)
	}
	if runtime.GOOS == "js" { // it is ten times as slow there
		dumps = dumps[:5]
	}
	dll, pdb := fileSource(t, filepath.Join(root, name+".dll")), fileSource(t, filepath.Join(root, name+".pdb"))
	made := input.FromBytes(name+".sym", symbolsOf(t, dll, pdb))
	for what, walk := range map[string]func(dump string) *report.Report{
		"program and PDB": func(dump string) *report.Report {
			return walkedWith(t, dump, filepath.Join(root, name+".dll"), filepath.Join(root, name+".pdb"))
		},
		"symbol file": func(dump string) *report.Report {
			s := session.NewFiles(session.Options{})
			s.Add(fileSource(t, dump))
			s.Add(made)
			return s.Report(0)
		},
	} {
		right := 0
		for _, d := range dumps {
			why := compareEmulated(walk(filepath.Join(root, name, d.Dump)), d.Callers)
			if why == "" || strings.Contains(name, "thumb") && strings.Contains(why, ": r4 ") {
				right++ // arm's __chkstk hands its result back in r4 (TestUnwindEmulatedPE)
				continue
			}
			t.Errorf("%s, %s: %s", d.Dump, what, why)
		}
		t.Log(fmt.Sprintf("%s, %s: %d of %d stacks right", name, what, right, len(dumps)))
	}
}

// TestEmulatedRoundTrip: the symbol files made of Windows programs unwind what the programs
// themselves do.
func TestEmulatedRoundTrip(t *testing.T) {
	corpus(t)
	root := filepath.Join(corpusRoot, "winapple/emulated")
	for name, least := range map[string]int{"deep-x86_64-O0": 36, "deep-x86_64-O2": 26, "deep-aarch64-O0": 43, "deep-aarch64-O2": 26, "deep-thumbv7-O2": 26} {
		emulatedByBoth(t, root, name, least)
	}
}
