package report

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/analysis"
	"github.com/crashpane/crashpane/core/reason"
	"github.com/crashpane/crashpane/walker"
)

// answered finds out whether the exception is only the answer of a signal's handler to an earlier
// one: the handler called abort, or sent the signal again, as those of the Java VM, Python's
// faulthandler and crash reporters do. The crash is then the first: its siginfo is in the frame that
// the kernel made for the handler, and its registers are those of the interrupted frame. It sets
// Event, Analysis and Ended.
func (b *builder) answered(why *reason.Reason) bool {
	c := b.r.Crash
	if os := b.d.OS(); os != core.OSLinux && os != core.Android || c.Thread >= len(b.in.Stacks) {
		return false
	}
	then := "its handler then aborted the program"
	switch name, _, _ := strings.Cut(why.Name, " "); {
	case why.Kind == reason.Abort && c.Event.Did == why.Text:
	case c.Event.Did == "sent itself "+name || why.Flags == siTKill:
		then = "its handler then sent " + name + " to the program"
	default:
		return false
	}
	at, first := b.firstSignal(b.in.Stacks[c.Thread].Frames)
	if first == nil {
		return false
	}
	first.ThreadID = c.ThreadID
	was := analysis.AnalyzeAt(b.d, first, &b.in.Stacks[c.Thread].Frames[at].Regs)
	// Without si_code it is not sure that the page fault was the signal's: the thread may have had it
	// before. The instruction shows it.
	if first.Flags == 0 && (was.Cause < 0 || slices.Contains(was.Contradictions, analysis.NotAccessed)) && first.Address != b.in.Stacks[c.Thread].Frames[at].PC {
		return false
	}
	c.Analysis, c.Event, c.Ended, c.Answer = was, was.Event, at, true
	if c.Event.Why != "" {
		c.Event.Why += "; "
	}
	c.Event.Why += then
	return true
}

// si_codes (asm-generic/siginfo.h): of a signal that a thread of the process sent, and of one that the
// kernel sent for no address.
const siTKill, siKernel = 0xfffffffa, 0x80

const sigbus, mipsBus = 7, 10

// sigsegv is the signal of these exceptions of x86 (Intel SDM volume 3, 7.3.1).
const sigsegv, generalProtection, pageFault = 11, 13, 14

// firstSignal returns the outermost frame of a stack that the kernel interrupted because of what it
// did, and the signal as an exception. Guessed frames show nothing.
func (b *builder) firstSignal(frames []walker.Frame) (at int, first *core.Exception) {
	for i := 1; i < len(frames); i++ {
		if scannedFrame(&frames[i]) {
			break
		}
		if !frames[i].Row.Signal {
			continue
		}
		if e := b.siginfo(frames[i-1].Regs.SP(), &frames[i]); e != nil {
			at, first = i, e
		}
	}
	return at, first
}

// raisedByCode are the signals that the kernel sends to a thread for the instruction that it is at:
// SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV (asm-generic/signal.h).
const raisedByCode = 1<<4 | 1<<5 | 1<<7 | 1<<8 | 1<<11

// isSiginfo reports whether words may be those of a siginfo: a signal that is not a real-time one, no
// error, and an si_code that systems define (asm-generic/siginfo.h). Handlers without SA_SIGINFO have
// words of older calls there.
func isSiginfo(number, errno uint64, code int32) bool {
	return number > 0 && number < 32 && errno == 0 && (code == siKernel || code > -64 && code < 16)
}

// siginfo reads the siginfo in the frame that the kernel made at sp for a signal's handler, if the
// kernel sent the signal for an instruction; without a siginfo, what the processor said. The words of
// the frame must be where a form of the CPU's code that returns from handlers has them: pc is that of
// the interrupted frame.
//
//	0 si_signo i32 · 4 si_errno i32 · 8 si_code i32 · on 64-bit CPUs 4 bytes padding · si_addr (asm-generic/siginfo.h)
//
// MIPS has si_code before si_errno, and SIGBUS is 10 (arch/mips/include/uapi/asm).
func (b *builder) siginfo(sp uint64, interrupted *walker.Frame) *core.Exception {
	arch := interrupted.Regs.Arch
	big := b.d.Header.Order == binary.BigEndian
	for i := range arch.Signals {
		form := &arch.Signals[i]
		same, word := false, func(off, size int) uint64 {
			v, _ := b.d.Memory.Word(sp+uint64(off), size)
			return v
		}
		for _, f := range form.Registers(arch, big) {
			if f.Reg == arch.PC {
				same = word(f.Off, arch.WordSize) == interrupted.Regs.PC()
			}
		}
		if !same {
			continue
		}
		info := form.Info
		for _, at := range form.Pointers {
			if word(at, arch.WordSize) == sp+uint64(at+2*arch.WordSize) && word(at+arch.WordSize, arch.WordSize) == sp+uint64(form.Context) {
				info = at + 2*arch.WordSize
			}
		}
		errno, code := word(info+4, 4), word(info+8, 4)
		if form.Swapped {
			errno, code = code, errno
		}
		if number := word(info, 4); !form.Plain && info >= 0 && isSiginfo(number, errno, int32(code)) {
			if form.Swapped && number == mipsBus {
				number = sigbus
			}
			if raisedByCode>>number&1 == 0 || int32(code) <= 0 {
				return nil
			}
			return &core.Exception{Code: uint32(number), Flags: uint32(code), Address: word(info+8+arch.WordSize, arch.WordSize)}
		}
		switch trap := word(form.Trap, arch.WordSize); {
		case form.Trap == 0:
		case trap == generalProtection:
			return &core.Exception{Code: sigsegv, Flags: siKernel}
		case trap == pageFault:
			return &core.Exception{Code: sigsegv, Address: word(form.Fault, arch.WordSize)}
		}
	}
	return nil
}
