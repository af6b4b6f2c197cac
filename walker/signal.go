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
// has: several that differ in where the frame is.
func (s *walk) signalReturns(pc uint64) []*cpu.SignalReturn {
	if !s.Policy.SignalByCode || s.OS != core.OSLinux && s.OS != core.Android {
		return nil
	}
	var b [cpu.MaxSignalBytes]byte
	n := 0
	if s.Code != nil {
		n = s.Code.Read(s.arch.CodeAddress(pc), b[:])
	}
	if n == 0 {
		return s.namedReturns(pc)
	}
	var out []*cpu.SignalReturn
	for i := range s.arch.Signals {
		if r := &s.arch.Signals[i]; s.arch.IsSignalReturn(r, b[:n], s.order()) {
			out = append(out, r)
		}
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
	if m < 0 {
		return nil
	}
	before, ans := s.Symbols.Row(m, rva-1)
	if here, ok := s.Symbols.Row(m, rva); ok == ans && ans == symbol.Yes && here.Origin == before.Origin && here.Start == before.Start {
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
func (s *walk) returnsFromSignal(pc uint64) bool { return len(s.signalReturns(pc)) > 0 }

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
	for _, r := range s.signalReturns(f.PC) {
		if f.Module >= 0 {
			if row, ans := s.Symbols.Row(f.Module, f.RVA); ans == symbol.Needs || ans == symbol.Yes && (row.Signal || s.restoresContext(&row)) {
				return candidate{}, notApplicable // the rules know better, or are not read yet
			}
		}
		row := s.signalRow(r)
		if r.Self != 0 {
			if self, ok := s.word(f.Regs.SP() + uint64(r.Self)); !ok || self != f.Regs.SP()+uint64(r.At) {
				continue
			}
		}
		if why := s.notInterrupted(&row); why != "" {
			return candidate{row: row}, why
		}
		return candidate{row: row, trust: TrustCFI}, ""
	}
	return candidate{}, notApplicable
}

// signalRow makes the rules of a signal's frame.
func (s *walk) signalRow(r *cpu.SignalReturn) unwind.Row {
	row := unwind.Row{Signal: true, OthersUndefined: true,
		Origin: unwind.Origin{Part: fmt.Sprintf("signal frame, from the code at 0x%x", s.arch.CodeAddress(s.top().PC))}}
	for _, f := range r.Registers(s.arch, s.BigEndian) {
		rule := unwind.Rule{Kind: unwind.AtReg, Reg: s.arch.SP, Offset: int64(f.Off)}
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
// are no registers.
func (s *walk) notInterrupted(row *unwind.Row) string {
	if t := s.top(); t.Source != SourceFramePointer && t.Trust != TrustScan && t.Trust != TrustCFIScan {
		return ""
	}
	regs, _, err := row.Apply(&s.top().Regs, s.mem, nil)
	if err != nil {
		return err.Error()
	}
	if yes, known := s.executable(regs.PC()); !s.Modules.Covers(regs.PC()) && !(known && yes) {
		return fmt.Sprintf("the frame was guessed, and the word for pc, 0x%x, is no address of code", regs.PC())
	}
	if !s.holdsStack(regs.SP()) {
		return fmt.Sprintf("the frame was guessed, and the word for sp, 0x%x, is no address of a stack", regs.SP())
	}
	return ""
}
