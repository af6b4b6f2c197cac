package walker_test

import (
	"encoding/binary"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker"
)

// mipsStack is little-endian memory of words.
type mipsStack struct {
	start uint64
	bytes []byte
}

func (m *mipsStack) Word(addr uint64, size int) (uint64, bool) {
	i := addr - m.start
	if addr < m.start || i+uint64(size) > uint64(len(m.bytes)) {
		return 0, false
	}
	if size == 4 {
		return uint64(binary.LittleEndian.Uint32(m.bytes[i:])), true
	}
	return binary.LittleEndian.Uint64(m.bytes[i:]), true
}

// noSymbols has none.
type noSymbols struct{}

func (noSymbols) Lookup(int, uint64) (symbol.Symbol, symbol.Answer) {
	return symbol.Symbol{}, symbol.NoFile
}
func (noSymbols) Row(int, uint64) (unwind.Row, symbol.Answer) { return unwind.Row{}, symbol.NoFile }
func (noSymbols) Function(int, uint64) (symbol.Range, bool)   { return symbol.Range{}, false }
func (noSymbols) FrameData(int, uint64) (unwind.FrameData, symbol.Answer) {
	return unwind.FrameData{}, symbol.NoFile
}

// TestMIPSBreakpad: Breakpad's scan on mips wants a frame pointer below the return address, and its
// callers' pc is two words before it.
func TestMIPSBreakpad(t *testing.T) {
	for _, c := range []struct {
		arch *cpu.Arch
		word uint64
	}{{cpu.MIPS, 4}, {cpu.MIPS64, 8}} {
		mem := &mipsStack{0x7000, make([]byte, 0x800)}
		put := func(word int, v uint64) {
			at := uint64(word) * c.word
			if c.word == 4 {
				binary.LittleEndian.PutUint32(mem.bytes[at:], uint32(v))
			} else {
				binary.LittleEndian.PutUint64(mem.bytes[at:], v)
			}
		}
		put(3, 0x400500) // no frame pointer below it
		put(7, 0x7000+20*c.word)
		put(8, 0x400604)
		put(20, 0x400700) // only 0 below it
		var regs cpu.Regs
		regs.Arch = c.arch
		regs.Set(c.arch.PC, 0x400100)
		regs.Set(c.arch.SP, 0x7000)
		w := walker.New(walker.Breakpad, core.Android, core.NewModuleMap([]core.ModuleMapping{{Start: 0x400000, Size: 0x10000}}, core.OverlapTruncate), noSymbols{})
		s := w.Walk(regs, mem)
		if len(s.Frames) != 2 {
			t.Errorf("%s: %d frames, %+v", c.arch.Name, len(s.Frames), s.Stop)
			continue
		}
		f := &s.Frames[1]
		pc, ra, fp, sp := f.Regs.PC(), value(f, c.arch.LR), value(f, c.arch.FP), f.Regs.SP()
		if f.PC != 0x400604 || f.Lookup != 0x400604-2*c.word || pc != f.Lookup || ra != 0x400604 || fp != 0x7000+20*c.word || sp != 0x7000+9*c.word {
			t.Errorf("%s: pc 0x%x lookup 0x%x, registers pc 0x%x ra 0x%x fp 0x%x sp 0x%x", c.arch.Name, f.PC, f.Lookup, pc, ra, fp, sp)
		}
		// The default takes the first return address.
		s = walker.New(walker.Best, core.Android, core.NewModuleMap([]core.ModuleMapping{{Start: 0x400000, Size: 0x10000}}, core.OverlapTruncate), noSymbols{}).Walk(regs, mem)
		if len(s.Frames) < 2 || s.Frames[1].PC != 0x400500 || s.Frames[1].Lookup != 0x4004f8 {
			t.Errorf("%s: best: %+v", c.arch.Name, s.Frames[1:])
		}
	}
}

func value(f *walker.Frame, r cpu.Reg) uint64 { v, _ := f.Regs.Get(r); return v }
