package cpu

import (
	"encoding/binary"
	"testing"
)

// TestSignals: each form of code that returns from a signal's handler is told from the others of its
// CPU by its bytes or by its pointer, and its frame has pc, sp and what calls preserve, each in a
// place of its own. Where the places are, testdata/signals has from running programs.
func TestSignals(t *testing.T) {
	for _, a := range All() {
		if len(a.Signals) == 0 && a != SPARC {
			t.Errorf("%s: no code that returns from a signal's handler", a.Name)
		}
		for i := range a.Signals {
			r := &a.Signals[i]
			if n := len(r.Code) * r.Unit; n == 0 || n > MaxSignalBytes {
				t.Errorf("%s: %d bytes of code", a.Name, n)
			}
			for _, big := range []bool{false, true} {
				places, regs := map[int]bool{}, map[Reg]bool{}
				for _, f := range r.Registers(a, big) {
					if places[f.Off] || regs[f.Reg] || f.Off < r.At || f.Off%a.WordSize != 0 {
						t.Errorf("%s: %s is at %d, where another is, or twice", a.Name, f.Name, f.Off)
					}
					places[f.Off], regs[f.Reg] = true, true
				}
				for _, reg := range append([]Reg{a.PC, a.SP}, a.CalleeSaved...) {
					if !regs[reg] {
						t.Errorf("%s: the frame has no %s", a.Name, a.RegName(reg))
					}
				}
			}
			for j := range a.Signals[:i] {
				if o := &a.Signals[j]; a.IsSignalReturn(o, r.bytes(), binary.LittleEndian) && (o.Self == 0 || o.Self == r.Self) {
					t.Errorf("%s: form %d is form %d too", a.Name, i, j)
				}
			}
			if b := r.bytes(); !a.IsSignalReturn(r, b, binary.LittleEndian) || a.IsSignalReturn(r, b[:len(b)-1], binary.LittleEndian) {
				t.Errorf("%s: form %d is not its own code, or half of it", a.Name, i)
			}
		}
	}
}

// bytes is the code in little-endian memory.
func (r *SignalReturn) bytes() []byte {
	var b []byte
	for _, unit := range r.Code {
		b = append(b, binary.LittleEndian.AppendUint32(nil, unit)[:r.Unit]...)
	}
	return b
}
