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

// linux decodes a signal: the exception code is its number, the flags are siginfo's si_code. Many writers leave si_code
// at 0, which as such would be SI_USER, "sent by kill": nothing is concluded from 0.
func (x *record) linux(r Reason) Reason {
	sig := find(tLinux, x.code)
	if sig.name == "" {
		if x.code == 0 { // what writers of microdumps leave
			r.Text, r.Why = "crashed", "the dump does not say how"
		}
		return r
	}
	r.Kind, r.Text = signalKind(sig.name), sig.text

	// The signals whose si_codes Breakpad prints too; its SIGSEGV has no space behind the slash.
	var kinds table
	both, glue := true, " / "
	switch x.code {
	case sigill:
		kinds = tSigill
	case sigfpe:
		kinds = tSigfpe
	case sigbus:
		kinds = tSigbus
	case sigsegv:
		kinds, glue = tSigsegv, " /"
	case sigtrap:
		kinds, both = tSigtrap, false
	case sigsys:
		kinds, both = tSigsys, false
	default:
		r.Breakpad, r.Rust = sig.name, x.rustSignal(sig.name)
		x.sent(&r, sig.name)
		return r
	}

	e := find(kinds, x.flags)
	r.Breakpad = sig.name
	if both {
		name, known := e.breakpad()
		r.Breakpad += glue + or(name, known, x.flags)
	}
	if name, known := e.rust(); known {
		r.Rust = sig.name + " / " + name
	} else {
		r.Rust = x.rustSignal(sig.name)
	}

	switch {
	case x.code == sigsegv || x.code == sigbus:
		// si_addr is the address only if the kernel raised the signal for one: not if another process sent it, and
		// not for SI_KERNEL, which is the general protection fault of a non-canonical address (si_addr is 0 then).
		switch {
		case e.name != "" || x.flags == 0:
			r.HasAddress, r.Why = true, e.text
		case x.flags == siKernel:
			r.Text, r.Why = "tried to access memory", "probably at an address that is not canonical; Linux does not say which"
		default:
			x.sent(&r, sig.name)
		}
		switch {
		case e.name == "BUS_ADRALN":
			r.Kind = Misaligned
		case x.code == sigbus && e.name != "":
			r.Kind = InPage
		}
	case e.text != "":
		r.Text = e.text
	default:
		x.sent(&r, sig.name)
	}
	return r
}

// siKernel (SI_KERNEL) says that the kernel raised the signal itself: for int3 on x86, for instance.
const siKernel = 0x80

// sent says who sent a signal, if siginfo's si_code says so. abort() sends SIGABRT to its own thread, which needs no word.
func (x *record) sent(r *Reason, name string) {
	if e := find(tSiCode, x.flags); e.text != "" && x.flags != siKernel && r.Kind != Abort {
		r.Text, r.Why = "was stopped by "+name, e.text
	}
}

// rustSignal is rust-minidump's form of a signal with a general si_code, or one that it does not know.
func (x *record) rustSignal(name string) string {
	e := find(tSiCode, x.flags)
	switch {
	case e.name == "":
		return fmt.Sprintf("%s / 0x%08x", name, x.flags)
	case x.flags == 0:
		return name
	}
	return name + " / " + e.name
}

// signalKind is the class of a signal.
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
