package walker

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// signalReturns returns the forms of the code that returns from a signal's handler which an address
// has: several that differ in where the frame is. sure: the code or its name says so; otherwise only
// the words of the frame can.
func (s *walk) signalReturns(pc uint64) (forms []*cpu.SignalReturn, sure bool) {
	if !s.Policy.SignalByCode || s.OS != core.OSLinux && s.OS != core.Android {
		return nil, false
	}
	var b [cpu.MaxSignalBytes]byte
	n, assigned := s.readCode(s.arch.CodeAddress(pc), b[:])
	if n == 0 {
		if out := s.namedReturns(pc); out != nil {
			return out, true
		}
		return s.vdsoReturns(pc), false
	}
	var out []*cpu.SignalReturn
	for i := range s.arch.Signals {
		if r := &s.arch.Signals[i]; s.arch.IsSignalReturn(r, b[:n], s.order()) {
			out = append(out, r)
		}
	}
	return out, !assigned
}

// vdsoReturns is signalReturns for the kernel's own page, where the dump has neither its code nor its
// names. Except for this code, nothing in that page calls anything that could be on a stack.
func (s *walk) vdsoReturns(pc uint64) []*cpu.SignalReturn {
	if s.Space == nil || !s.arch.SignalsInVDSO || s.interrupted() && pc == s.top().PC {
		return nil
	}
	if m, ok := s.Space.Mapping(s.arch.CodeAddress(pc)); !ok || m.Name != "[vdso]" {
		return nil
	}
	var out []*cpu.SignalReturn
	for i := range s.arch.Signals {
		out = append(out, &s.arch.Signals[i])
	}
	return out
}

// restorers are the names that C libraries and Go give to that code; plain ones are for handlers
// without SA_SIGINFO.
var restorers = map[string]struct{ plain bool }{
	"__restore_rt": {}, "__restore": {true}, "__default_rt_sa_restorer": {}, "__default_sa_restorer": {true},
	"runtime.sigreturn__sigaction": {}, "runtime.sigreturn": {},
}

// namedReturns is signalReturns where the dump lacks the code. A return address is never a function's
// first byte, but for a call that does not return; the names are those of no other function.
//
// A name is only looked up where the address and the call before it have not the same rules, as
// inside of a function.
func (s *walk) namedReturns(pc uint64) []*cpu.SignalReturn {
	at := s.arch.CodeAddress(pc)
	m, rva := s.Modules.Find(at)
	if m < 0 || s.inside[at] {
		return nil
	}
	before, ans := s.Symbols.Row(m, rva-1)
	if here, ok := s.Symbols.Row(m, rva); ok == ans && ans == symbol.Yes && here.Origin == before.Origin && here.Start == before.Start {
		if s.inside == nil {
			s.inside = map[uint64]bool{}
		}
		s.inside[at] = true
		return nil
	}
	own, _ := s.lookup(m, rva)
	kind, ok := restorers[strings.TrimSuffix(own.Name, ".abi0")]
	if !ok || own.Start != rva {
		return nil
	}
	var out []*cpu.SignalReturn
	for i := range s.arch.Signals {
		if r := &s.arch.Signals[i]; r.Plain == kind.plain {
			out = append(out, r)
		}
	}
	return out
}

// returnsFromSignal: what is at an address returns from a signal's handler. Nothing calls it: the
// kernel has made its first instruction the handler's return address.
func (s *walk) returnsFromSignal(pc uint64) bool {
	forms, _ := s.signalReturns(pc)
	return len(forms) > 0
}

// beginsFunction: an address is that of a function's first instruction, and no call is before it.
func (s *walk) beginsFunction(pc uint64) bool {
	m, rva := s.Modules.Find(s.arch.CodeAddress(pc))
	if !s.Policy.ReturnToEntry || m < 0 || !s.noCallBefore(pc) {
		return false
	}
	if sym, _ := s.lookup(m, rva); sym.Name != "" && sym.Start == rva {
		return true
	}
	// Without a name: rules begin here, and there are none before, as in the padding between functions.
	row, ans := s.Symbols.Row(m, rva)
	_, before := s.Symbols.Row(m, rva-1)
	return ans == symbol.Yes && row.Start == rva && before == symbol.No
}

// entersHandler: the top frame turned out to be the code to which a signal's handler returns. It is
// looked up where it begins, as where the code itself is known.
func (s *walk) entersHandler() {
	f := s.top()
	at := s.arch.CodeAddress(f.PC)
	if !s.Policy.SignalByCode || s.interrupted() || f.Lookup == at {
		return
	}
	f.Lookup = at
	f.Module, f.RVA = s.Modules.Find(f.Lookup)
	f.Symbol, f.Answer, f.unnamed = symbol.Symbol{}, symbol.NoFile, true
}

// order is the byte order of the dump's data.
func (w *Walker) order() binary.ByteOrder {
	if w.BigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// proposeSignal returns the rules of the frame that the kernel made for a signal, where the top
// frame is at the code that returns from its handler. C libraries without call frame information
// for that code (musl), programs with code of their own (Go) and pages of the kernel are found so.
//
//	pc = [sp + offset]     sp = [sp + offset]     …     all registers of the interrupted code
func (s *walk) proposeSignal() (candidate, string) {
	f := s.top()
	forms, sure := s.signalReturns(f.PC)
	if !sure && f.Doubtful {
		return candidate{}, notApplicable
	}
	refused := candidate{}
	why := notApplicable
	for _, r := range forms {
		if f.Module >= 0 {
			if row, ans := s.Symbols.Row(f.Module, f.RVA); ans == symbol.Needs || ans == symbol.Yes && (row.Signal || s.restoresContext(&row)) {
				return candidate{}, notApplicable // the rules know better, or are not read yet
			}
		}
		if row, ok := s.recordedSignal(r); ok {
			return candidate{row: row, trust: TrustCFI}, ""
		}
		row := s.signalRow(r)
		if r.Self != 0 {
			if self, ok := s.word(f.Regs.SP() + uint64(r.Self)); !ok || self != f.Regs.SP()+uint64(r.At) {
				continue
			}
		}
		if t := f.Trust; sure && f.Source != SourceFramePointer && t != TrustScan && t != TrustCFIScan {
			return candidate{row: row, trust: TrustCFI}, ""
		}
		if refused.row, why = row, s.notInterrupted(&row); why == "" {
			return candidate{row: row, trust: TrustCFI}, ""
		}
	}
	return refused, why
}

// mostSignalState is the most bytes that the kernel saves of a thread: on arm64, 64 KB of the largest
// ZA register, and 8 KB of the longest vectors (arch/arm64/include/uapi/asm/sigcontext.h).
const mostSignalState = 80 << 10

// recordedSignal returns the rules of a signal's frame by the frame record that the kernel made above
// it, where the top frame was found by its frame pointer, which does not say where the stack pointer
// was. The record has the same two registers as the frame.
func (s *walk) recordedSignal(r *cpu.SignalReturn) (unwind.Row, bool) {
	fp, ok := s.top().Regs.Get(s.arch.FP)
	if r.Record == 0 || !ok || s.top().Source != SourceFramePointer {
		return unwind.Row{}, false
	}
	saved, _ := s.word(fp)
	lr, ok := s.word(fp + uint64(s.arch.WordSize))
	atFP, atLR := r.Place(s.arch, s.arch.FP), r.Place(s.arch, s.arch.LR)
	for size := r.Record; ok && size <= mostSignalState; size += 16 {
		// Frames of a damaged dump may all look like this.
		if s.farWords++; s.farWords > maxFarWords {
			break
		}
		if v, ok := s.word(fp - uint64(size-atFP)); !ok || v != saved {
			continue
		}
		if v, ok := s.word(fp - uint64(size-atLR)); !ok || v != lr {
			continue
		}
		if row := s.signalRowAt(r, s.arch.FP, -size); s.notInterrupted(&row) == "" {
			return row, true
		}
	}
	return unwind.Row{}, false
}

// signalRow makes the rules of a signal's frame at the stack pointer.
func (s *walk) signalRow(r *cpu.SignalReturn) unwind.Row { return s.signalRowAt(r, s.arch.SP, 0) }

// signalRowAt makes the rules of a signal's frame at a distance from a register.
func (s *walk) signalRowAt(r *cpu.SignalReturn, base cpu.Reg, off int) unwind.Row {
	row := unwind.Row{Signal: true, OthersUndefined: true,
		Origin: unwind.Origin{Part: fmt.Sprintf("signal frame, from the code at 0x%x", s.arch.CodeAddress(s.top().PC))}}
	for _, f := range r.Registers(s.arch, s.BigEndian) {
		rule := unwind.Rule{Kind: unwind.AtReg, Reg: base, Offset: int64(f.Off + off)}
		switch f.Reg {
		case s.arch.PC:
			row.RA = rule
		case s.arch.SP:
			row.CFA = rule
		default:
			row.Saved = append(row.Saved, unwind.RegRule{Reg: f.Reg, Rule: rule})
		}
	}
	return row
}

// notInterrupted returns why what a signal's frame holds cannot be registers of an interrupted
// thread, or "". Above a frame that was guessed the stack pointer may be wrong; then the words there
// are not registers.
func (s *walk) notInterrupted(row *unwind.Row) string {
	regs, _, err := s.evaluate(row, &s.top().Regs, s.mem, nil)
	if err != nil {
		return err.Error()
	}
	if yes, known := s.executable(regs.PC()); !s.Modules.Covers(regs.PC()) && !(known && yes) {
		return fmt.Sprintf("nothing else shows that this is a signal's frame, and the word for pc, 0x%x, is not an address of code", regs.PC())
	}
	if !s.holdsStack(regs.SP()) {
		return fmt.Sprintf("nothing else shows that this is a signal's frame, and the word for sp, 0x%x, is not an address of a stack", regs.SP())
	}
	return ""
}
