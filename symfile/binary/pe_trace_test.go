package binary_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// peTraces are PE files and what an emulator saw at each of their instructions (../pe/testdata/make.sh).
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
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	tr := &trace{}
	if err := json.NewDecoder(z).Decode(tr); err != nil {
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

// At every instruction of a program, prologues and epilogues among them, the rules of a PE file lead through all callers, with all
// registers that calls preserve; and so do those of the symbol file that is made of it.
func TestTracesPE(t *testing.T) {
	paths, err := filepath.Glob(peTraces + "*.json.gz")
	if err != nil || len(paths) < 7 {
		t.Fatalf("%d traces, %v", len(paths), err)
	}
	for _, path := range paths {
		b := open(t, strings.TrimSuffix(path, ".json.gz")+".dll")
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

// changesR4 is the second instruction of arm's __chkstk, the first function of the files: it hands its result back in r4, which calls
// preserve otherwise.
const changesR4 = 0x1004

// follow unwinds one instruction's stack and says in what it differs; n is how many frames were right.
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
