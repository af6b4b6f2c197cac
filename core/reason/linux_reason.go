package reason

import "fmt"

// Linux signals with codes of their own.
const (
	sigill  = 4
	sigtrap = 5
	sigbus  = 7
	sigfpe  = 8
	sigsegv = 11
	sigsys  = 31
)

// The real-time signals of the kernel (asm-generic/signal.h). They have no names: C libraries use
// the first ones themselves, so SIGRTMIN is 34 with glibc and other numbers with others.
const (
	rtMin = 32
	rtMax = 64
)

// signalCodes are the tables of the si_codes of those signals.
var signalCodes = map[uint32]table{sigill: tSigill, sigfpe: tSigfpe, sigbus: tSigbus, sigsegv: tSigsegv, sigtrap: tSigtrap, sigsys: tSigsys}

// linux decodes a signal: the exception code is its number, the flags are siginfo's si_code. Many
// writers leave si_code 0, which would be SI_USER ("sent by kill"), so linux concludes nothing from
// 0.
func (x *record) linux(r Reason) Reason {
	sig := find(tLinux, x.code)
	if rtMin <= x.code && x.code <= rtMax {
		sig = entry{name: fmt.Sprintf("SIG%d", x.code), text: fmt.Sprintf("was sent real-time signal %d", x.code)}
	}
	if sig.name == "" {
		if x.code == 0 { // as writers of microdumps leave it
			r.Text, r.Why = "crashed", "the dump does not say how"
		}
		return r
	}
	r.Kind, r.Text = signalKind(sig.name), sig.text

	var e entry
	if codes, own := signalCodes[x.code]; own {
		e = find(codes, x.flags)
	}
	switch {
	case e.name != "":
		r.Name = sig.name + " / " + e.name
	case x.flags == 0: // as many writers leave it
		r.Name = sig.name
	default:
		r.Name = sig.name + " / " + nameOr(find(tSiCode, x.flags).name, x.flags)
	}

	switch {
	case x.code == sigsegv || x.code == sigbus:
		// si_addr is an address only if the kernel raised the signal for an access. It is not if a
		// process sent the signal, or for SI_KERNEL: then the fault was a general protection fault
		// of a non-canonical address, and si_addr is 0.
		switch {
		case e.name == "SEGV_MTEAERR" || e.name == "SEGV_ADIDERR":
			// Reported some time after the access, whose address is not known: si_addr is 0.
			r.Text, r.Why = "accessed memory", e.text
		case e.name == "SEGV_CPERR":
			// A return or a jump failed; si_addr is 0 or that of the instruction.
			r.Text, r.Why = "was stopped by "+sig.name, e.text
		case e.name != "" || x.flags == 0:
			r.HasAddress, r.Why = true, e.text
		case x.flags == siKernel:
			r.Text, r.Why = "tried to access memory", "probably at an address that is not canonical; Linux does not say which"
		default:
			x.sender(&r, sig.name)
		}
		r.Stated = e.name != "" && (x.flags > 2 || e.name == "BUS_ADRALN")
		switch {
		// The other codes of SIGBUS are of memory that could not be had: a file that was truncated,
		// or failing hardware.
		case e.name == "BUS_ADRALN":
			r.Kind = Misaligned
		case x.code == sigbus && e.name != "":
			r.Kind = InPage
		}
	case e.text != "":
		r.Text = e.text
	default:
		x.sender(&r, sig.name)
	}
	return r
}

// siKernel is SI_KERNEL: the kernel raised the signal, for example for int3 on x86.
const siKernel = 0x80

// sender adds who sent a signal, if si_code has it. It adds nothing for SIGABRT, which abort()
// sends to its own thread.
func (x *record) sender(r *Reason, name string) {
	if e := find(tSiCode, x.flags); e.text != "" && x.flags != siKernel && r.Kind != Abort {
		r.Why = e.text
		if x.code < rtMin { // whose sentences say what each signal means, and not that it was sent
			r.Text = "was stopped by " + name
		}
	}
}

// signalKind returns the class of a signal.
func signalKind(name string) Kind {
	switch name {
	case "SIGSEGV", "SIGBUS":
		return Memory
	case "SIGILL":
		return Instruction
	case "SIGFPE":
		return Arithmetic
	case "SIGTRAP":
		return Trap
	case "SIGABRT", "SIGIOT | SIGABRT":
		return Abort
	case "SIGXCPU", "SIGXFSZ", "SIGSYS":
		return Limit
	case "DUMP_REQUESTED":
		return NoCrash
	}
	return Signal
}
