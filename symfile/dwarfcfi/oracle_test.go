package dwarfcfi_test

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/exidx"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// What gdb said about every instruction of a program, on eleven targets (testdata/oracle): from the
// registers and the stack of each, our rows lead through the same frames.

const oracles = "../../testdata/oracle/"

type oracle struct {
	Steps []struct {
		PC, SP uint64
		Regs   map[string]json.Number
		At     uint64
		Stack  string
		Frames []struct {
			PC, SP uint64
			Name   string
		}
	}
}

// stackBytes are the words of a step's stack.
type stackBytes struct {
	at    uint64
	bytes []byte
	order binary.ByteOrder
}

func (s *stackBytes) Word(addr uint64, size int) (uint64, bool) {
	if addr < s.at || addr-s.at+uint64(size) > uint64(len(s.bytes)) {
		return 0, false
	}
	p := s.bytes[addr-s.at:]
	if size == 8 {
		return s.order.Uint64(p), true
	}
	return uint64(s.order.Uint32(p)), true
}

func readOracle(t *testing.T, name string) *oracle {
	t.Helper()
	o := &oracle{}
	if err := json.Unmarshal(testfile.Read(t, oracles+name+".json.gz"), o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOracle(t *testing.T) {
	for _, name := range []string{"amd64", "x86", "arm64", "arm", "thumb", "mips", "mips64", "ppc", "ppc64", "riscv64", "s390x"} {
		t.Run(name, func(t *testing.T) {
			o := readOracle(t, name)
			f, cfg := openELF(t, oracles+name+".elf")
			var tab, index unwind.Table
			for kind, one := range tables(t, oracles+name+".elf") {
				if kind != ".eh_frame scanned" || tab == nil {
					tab = one
				}
			}
			if s := f.Section(".ARM.exidx"); s != nil {
				var err error
				index, err = exidx.Open(input.New(name, s, int64(s.Size)), s.Addr, cfg.At, exidx.Config{Order: cfg.Order, Base: cfg.Base, File: name})
				if err != nil {
					t.Fatal(err)
				}
			}
			thumb := uint64(0)
			if cfg.Arch == cpu.ARM {
				thumb = 1 // gdb takes off what says that code is Thumb code
			}
			frames, indexed := 0, 0
			for _, step := range o.Steps {
				data, err := hex.DecodeString(step.Stack)
				if err != nil {
					t.Fatal(err)
				}
				mem := &stackBytes{step.At, data, cfg.Order}
				regs := cpu.Regs{Arch: cfg.Arch}
				for n, v := range step.Regs {
					if r, ok := cfg.Arch.Lookup(n); ok {
						if u, err := parseNumber(v); err == nil {
							regs.Set(r, u)
						}
					}
				}
				regs.Set(cfg.Arch.PC, step.PC)
				regs.Set(cfg.Arch.SP, step.SP)
				for i, want := range step.Frames {
					if regs.PC()&^thumb != want.PC || regs.SP() != want.SP {
						t.Fatalf("pc 0x%x, frame %d: pc 0x%x sp 0x%x, gdb has %s at 0x%x sp 0x%x", step.PC, i, regs.PC(), regs.SP(), want.Name, want.PC, want.SP)
					}
					frames++
					if i == len(step.Frames)-1 {
						break
					}
					at := regs.PC() - cfg.Base
					if i > 0 {
						at -= cfg.Arch.CallSize
					}
					row, ok, err := tab.Row(at)
					if err != nil || !ok {
						t.Fatalf("pc 0x%x, frame %d (%s): no row (%v)", step.PC, i, want.Name, err)
					}
					next, _, err := row.Apply(&regs, mem, nil)
					if err != nil {
						t.Fatalf("pc 0x%x, frame %d (%s), %s: %v", step.PC, i, want.Name, row.Describe(cfg.Arch), err)
					}
					if index != nil && i > 0 {
						indexed++
						other, ok, err := index.Row(at)
						if err != nil || !ok {
							t.Fatalf("exidx: pc 0x%x, frame %d (%s): no row (%v)", step.PC, i, want.Name, err)
						}
						same, _, err := other.Apply(&regs, mem, nil)
						if err != nil || same.PC() != next.PC() || same.SP() != next.SP() {
							t.Fatalf("exidx: pc 0x%x, frame %d (%s): %s, .debug_frame: %s (%v)", step.PC, i, want.Name, other.Describe(cfg.Arch), row.Describe(cfg.Arch), err)
						}
						for r := range cfg.Arch.Names {
							a, ok1 := next.Get(cpu.Reg(r))
							b, ok2 := same.Get(cpu.Reg(r))
							if ok1 && ok2 && a != b {
								t.Fatalf("exidx: pc 0x%x, frame %d (%s): %s is 0x%x, by .debug_frame 0x%x", step.PC, i, want.Name, cfg.Arch.Names[r], b, a)
							}
						}
					}
					regs = next
				}
			}
			t.Logf("%d instructions, %d frames, %d by .ARM.exidx", len(o.Steps), frames, indexed)
			if w := tab.Warnings(); len(w) > 0 {
				t.Error(strings.Join(w, "\n"))
			}
		})
	}
}

func parseNumber(n json.Number) (uint64, error) {
	if i, err := n.Int64(); err == nil {
		return uint64(i), nil
	}
	var v uint64
	err := json.Unmarshal([]byte(n), &v)
	return v, err
}
