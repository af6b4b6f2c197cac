package walker

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// maxFrameGap is the largest distance between two frames at which a guessed frame pointer is
// accepted. 99.5 % of the frames of popular libraries are smaller, says Breakpad's
// stackwalker_x86.cc.
const maxFrameGap = 128 << 10

// scanPart is the Origin's Part of rules that a search of the stack made.
const scanPart = "stack scan"

// scanFor searches words from an address upwards for a plausible return address. It returns where
// it is, and its value.
//
// The search goes upwards since stacks grow down: callers' frames are at higher addresses. It ends
// at the first word that the dump lacks, since no frame continues beyond the stack's memory.
func (s *walk) scanFor(from uint64, words int) (at, value uint64, ok bool) {
	size := uint64(s.arch.WordSize)
	for i := 0; i < words; i++ {
		at = from + uint64(i)*size
		if at < from {
			return 0, 0, false
		}
		v, ok := s.word(at)
		if !ok {
			return 0, 0, false
		}
		if good, _ := s.plausibleReturn(v); good {
			return at, v, true
		}
	}
	return 0, 0, false
}

// readable returns how many words from an address upwards the dump's stack memory has without a
// gap. It is for messages alone: whether a search failed for want of memory.
func (s *walk) readable(from uint64, words int) int {
	for i := 0; i < words; i++ {
		if _, ok := s.word(from + uint64(i)*uint64(s.arch.WordSize)); !ok {
			return i
		}
	}
	return words
}

// scanWords returns how many words to search above the top frame.
// The frame that crashed may have large local arrays or be half way through a call, so the search
// above it is longer, as in Breakpad. Other searches are short: each additional word may be a stale
// return address.
func (s *walk) scanWords() int {
	f := s.top()
	if f.Trust == TrustContext || s.afterLeaf() ||
		s.Policy.Scan.ExtendAfterCFI && (f.Trust == TrustCFI || f.Trust == TrustNone) && s.arch.WordSize == 8 {
		return s.Policy.Scan.ExtendedWords
	}
	return s.Policy.Scan.Words
}

// proposeScan returns rules for the first word above sp that could be a return address.
//
// The row is constant: the CFA is the address above the word that was found, the return address
// that word.
func (s *walk) proposeScan() (candidate, string) {
	if s.scanned >= s.Policy.MaxScanned {
		return candidate{}, fmt.Sprintf("%d frames of this stack were found by scanning already", s.scanned)
	}
	sp, ok := s.top().Regs.Get(s.arch.SP)
	if !ok {
		return candidate{}, "sp is not known"
	}
	if s.Policy.Scan.WithFP && s.breakpad().ScanWithFP {
		return s.scanWithFP(sp)
	}
	words := s.scanWords()
	at, value, call, ok := s.scanCaller(sp, words)
	if ok && s.afterLeaf() && s.strip(value) == s.top().PC && !s.atEntry(&s.frames[0]) {
		// Frame 0's saved copy of its lr, by which this frame was found already.
		next := int((at-sp)/uint64(s.arch.WordSize)) + 1
		at, _, call, ok = s.scanCaller(at+uint64(s.arch.WordSize), words-next)
	}
	if !ok {
		switch n := s.readable(sp, words); {
		case n == 0:
			return candidate{}, fmt.Sprintf("the word at sp 0x%x %s", sp, s.whereNot(sp, s.arch.WordSize))
		case n < words:
			return candidate{}, fmt.Sprintf("none of the %d words from sp 0x%x to the end of the stack memory is a return address into a known function", n, sp)
		}
		return candidate{}, fmt.Sprintf("none of the %d words above sp 0x%x is a return address into a known function", words, sp)
	}
	row := returnAt(s.arch, at)
	row.Origin.Part = scanPart
	if rule, ok := s.scannedFP(sp, at); ok {
		row.Saved = []unwind.RegRule{{Reg: s.arch.FP, Rule: rule}}
	}
	return candidate{row: row, trust: TrustScan, call: call}, ""
}

// scanCaller searches for a return address that a call of the top frame's function may have left.
// The first words are searched for anything that could be one. Behind them, up to the end of the
// stack, each word may be a stale return address: there only one counts that is known to lead to the
// frame.
func (s *walk) scanCaller(from uint64, words int) (at, value uint64, call calls, ok bool) {
	if !s.Policy.Scan.Reach {
		at, value, ok = s.scanFor(from, words)
		return at, value, calls{}, ok
	}
	end, whole := s.stackEnd(from)
	whole = whole && !s.top().Doubtful
	size := uint64(s.arch.WordSize)
	for at = from; at >= from && at <= end-(size-1) && (words > 0 || whole); at += size {
		v, ok := s.word(at)
		if !ok {
			break
		}
		if words--; words >= 0 {
			if good, _, call := s.couldReturn(v); good {
				return at, v, call, true
			}
			continue
		}
		if s.farWords++; s.farWords > maxFarWords {
			break
		}
		if how := s.mustReturn(v); how != reachNever {
			return at, v, calls{how: how}, true
		}
	}
	return 0, 0, calls{}, false
}

// maxFarWords bounds how many words all scans of a dump search beyond their first ones. Threads of a
// damaged dump may all have the same large stack.
const maxFarWords = 1 << 24

// stackEnd returns where the mapping ends that a stack is in, or without a memory map the end of all
// addresses. whole: the mapping is not known to have other things than the stack. A stack that a
// program made in its data or on its heap is followed by them.
func (s *walk) stackEnd(sp uint64) (end uint64, whole bool) {
	if s.Space == nil {
		return ^uint64(0), false
	}
	m, ok := s.Space.Mapping(sp)
	if !ok {
		return ^uint64(0), false
	}
	return m.End - 1, !s.Modules.Covers(sp) && !strings.HasPrefix(m.Name, "/") && m.Name != "[heap]"
}

// couldReturn tests a word of a scan near the top frame: it is plausible, and the call before it is
// not known to lead elsewhere. why is the reason if it is not.
func (s *walk) couldReturn(addr uint64) (good bool, why string, call calls) {
	if good, why = s.plausibleReturn(addr); !good || !s.Policy.Scan.Reach {
		return good, why, calls{}
	}
	call.how, call.tail = s.reaches(addr)
	if call.how == reachNever {
		return false, "the call before it is of another function than the frame's", calls{}
	}
	if call.how == reachUnknown {
		why = s.pointsAtStart(addr)
	}
	return why == "", why, call
}

// pointsAtStart says so if an address is the first one of a module or of a function, and there is no code
// to show a call before it. Programs keep such addresses, main's and _start's among them, on their
// stacks, as Linux does the loader's. A call that never returns leaves the same word if it is the last
// instruction of the function before, without padding; that is much rarer, and then a scan finds the
// caller above.
func (s *walk) pointsAtStart(addr uint64) string {
	if _, known := s.callBefore(addr); known || s.returnsFromSignal(addr) {
		return ""
	}
	at := s.arch.CodeAddress(addr)
	if m, rva := s.Modules.Find(at); m >= 0 && rva == 0 {
		return "it is the first address of a module"
	}
	if s.functionAt(at).start == at {
		return "it is the first address of a function"
	}
	return ""
}

// mustReturn tests a word of a scan far from the top frame: the call before it leads to the frame's
// function, or anywhere, and the module's symbols know the code. Otherwise it returns reachNever. The tests that look up nothing come
// first, since there may be a million words.
func (s *walk) mustReturn(addr uint64) reach {
	m, rva := s.Modules.Find(addr - 1)
	if m < 0 {
		return reachNever
	}
	if yes, known := s.executable(addr - 1); known && !yes {
		return reachNever
	}
	how, _ := s.entersDirectly(addr)
	if how != reachIndirect && how != reachDirect {
		return reachNever
	}
	if _, ans := s.Symbols.Row(m, rva); ans == symbol.Yes {
		return how
	}
	if sym, _ := s.lookup(m, rva); sym.Name == "" {
		return reachNever
	}
	return how
}

// scannedFP guesses the caller's frame pointer from a return address at an address. A function that
// keeps one pushed its caller's right below the return address; one that does not left the register
// alone.
func (s *walk) scannedFP(sp, at uint64) (unwind.Rule, bool) {
	if s.arch.ScanFP == cpu.ScanFPUnknown {
		return unwind.Rule{}, false
	}
	if s.Policy.Scan.FP == ScanFPRust {
		return s.scannedFPRust(sp, at)
	}
	size := uint64(s.arch.WordSize)
	below := at - size
	fp := s.arch.FP
	unchanged := unwind.Rule{Kind: unwind.Same, Reg: fp}
	saved := unwind.Rule{Kind: unwind.AtConst, Offset: int64(below)}
	if s.arch.ScanFP == cpu.ScanFPAbove {
		// What is below the return address points up the stack, not far: this looks like a saved
		// frame pointer.
		if v, ok := s.word(below); ok && v > below && v-below <= maxFrameGap {
			return saved, true
		}
		if !s.top().Regs.Known(fp) {
			last, _ := s.stale.Get(fp)
			return unwind.Rule{Kind: unwind.Const, Offset: int64(last)}, true
		}
		return unchanged, true
	}
	last, known := s.top().Regs.Get(fp)
	switch {
	case !known:
	// The callee's frame pointer points at the word below the return address, where "push rbp; mov
	// rbp, rsp" stores the caller's.
	case last == below:
		if v, ok := s.word(below); ok && v > at {
			return saved, true
		}
	// It points above this frame already, so it is the caller's, or that of an older frame.
	case last >= at+size:
		return unchanged, true
	}
	return unwind.Rule{}, false
}

// scannedFPRust is scannedFP by rust-minidump's rules, which the policy of that name repeats.
func (s *walk) scannedFPRust(sp, at uint64) (unwind.Rule, bool) {
	if at == sp {
		// The frame is its return address alone: no room for a saved frame pointer.
		return unwind.Rule{}, false
	}
	size := uint64(s.arch.WordSize)
	below := at - size
	v, ok := s.word(below)
	if !ok {
		return unwind.Rule{}, false
	}
	fp := s.arch.FP
	last, known := s.top().Regs.Get(fp)
	near := v > at && v-below <= maxFrameGap
	if s.arch.ScanFP == cpu.ScanFPPointed {
		if !known {
			return unwind.Rule{}, false
		}
		near = near && last == below
	}
	if near {
		_, inside := s.word(v)
		return unwind.Rule{Kind: unwind.AtConst, Offset: int64(below)}, inside
	}
	if !known || last < at+size {
		return unwind.Rule{}, false
	}
	if s.arch.ScanFP == cpu.ScanFPAbove {
		if _, inside := s.word(last); !inside {
			return unwind.Rule{}, false
		}
	}
	return unwind.Rule{Kind: unwind.Same, Reg: fp}, true
}
