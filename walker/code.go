package walker

import (
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/framecode"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// proposeCode returns the rules that the code of the top frame's function shows (package
// framecode), where there are no others: by the way from the function's first instruction, where
// the symbols say where that is, or by the way to its return.
//
// The frame pointer of a function that has not set it yet, or that does not set it, is its caller's:
// followed, it would leave out a frame.
func (s *walk) proposeCode() (candidate, string) {
	if s.Code == nil || !framecode.Knows(s.arch) {
		return candidate{}, notApplicable
	}
	f := s.top()
	// Where a program's tables would have the rules and the program is not there, only a scan could
	// go on from the caller, and would begin to guess where it found nothing before.
	if f.Module >= 0 && s.arch.WindowsTables && s.onWindows() && s.Symbols.Known(f.Module) == symbol.NoFile {
		return candidate{}, notApplicable
	}
	row, why := s.codeRow(f)
	if why != "" {
		return candidate{}, why
	}
	trust := TrustFramePointer
	if s.interrupted() {
		trust = TrustLeaf
	} else if row.Topmost {
		return candidate{row: row}, "the code returns to its link register, which a call has changed"
	}
	return candidate{row: row, trust: trust}, ""
}

// codeRow returns the rules of the code at a frame, or why there are none.
func (s *walk) codeRow(f *Frame) (unwind.Row, string) {
	own, pc := s.symbol(f), s.arch.CodeAddress(f.PC)
	start := f.Address(own.Start)
	thumb := s.isThumb(f)
	named := f.Module >= 0 && own.Name != "" && start <= pc && pc-start < framecode.MaxBody
	if named {
		size := own.Size
		if size == 0 || size > framecode.MaxBody {
			size = framecode.MaxBody
		}
		code := make([]byte, size)
		code = code[:s.Code.Read(start, code)]
		if row, ok := framecode.Body(s.arch, s.order(), code, start, pc, own.Size > 0, thumb); ok {
			row.Origin = codeOrigin("code from", start)
			return row, ""
		}
	}
	// A call that does not return may be the function's last instruction; what follows is another's.
	if f.Lookup != f.PC && (!named || own.Size > 0 && pc-start >= own.Size) {
		if m, rva := s.Modules.Find(pc); m < 0 || named {
			return unwind.Row{}, "the call is the last instruction of its function"
		} else if after, _ := s.lookup(m, rva); after.Start != own.Start || after.Name != own.Name {
			return unwind.Row{}, "the call is the last instruction of its function"
		}
	}
	var code [framecode.MaxEpilogue]byte
	n := s.Code.Read(pc, code[:])
	if row, ok := framecode.Epilogue(s.arch, s.order(), code[:n], pc, thumb); ok {
		row.Origin = codeOrigin("code of the epilogue at", pc)
		return row, ""
	}
	if n == 0 {
		return unwind.Row{}, "the code is not there"
	}
	return unwind.Row{}, "the code does not show where the return address is"
}

func codeOrigin(what string, at uint64) unwind.Origin {
	return unwind.Origin{Part: fmt.Sprintf("%s 0x%x", what, at)}
}

// isThumb: a frame on arm is in Thumb code.
func (s *walk) isThumb(f *Frame) bool {
	if !s.arch.ThumbBit {
		return false
	}
	if f.PC&1 != 0 {
		return true
	}
	if r, ok := s.arch.Lookup("cpsr"); ok {
		v, _ := f.Regs.Get(cpu.Reg(r))
		return v>>5&1 != 0
	}
	return false
}

// checkCode rejects what the code shows if the return address does not follow a call. A frame's pc
// may be in no code, where the bytes mean nothing.
func (s *walk) checkCode(regs *cpu.Regs) string {
	pc := s.strip(regs.PC())
	if pc == 0 { // a stack may begin with this function
		return ""
	}
	if good, why := s.plausibleReturn(pc); !good && !s.returnsFromSignal(pc) {
		if why != "" {
			why = ": " + why
		}
		return fmt.Sprintf("0x%x is no return address%s", pc, why)
	}
	return ""
}
