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

// linux decodes a signal: the exception code is its number, the flags are siginfo's si_code. Many
// writers leave si_code 0, which would be SI_USER ("sent by kill"), so linux concludes nothing from
// 0.
func (x *record) linux(r Reason) Reason {
	sig := find(tLinux, x.code)
	if sig.name == "" {
		if x.code == 0 { // as writers of microdumps leave it
			r.Text, r.Why = "crashed", "the dump does not say how"
		}
		return r
	}
	r.Kind, r.Text = signalKind(sig.name), sig.text

	// The signals whose si_codes Breakpad prints too. It has no space after the slash of SIGSEGV.
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
		x.sender(&r, sig.name)
		return r
	}

	e := find(kinds, x.flags)
	r.Breakpad = sig.name
	if both {
		name, known := e.breakpad()
		r.Breakpad += glue + nameOrNumber(name, known, x.flags)
	}
	if name, known := e.rust(); known {
		r.Rust = sig.name + " / " + name
	} else {
		r.Rust = x.rustSignal(sig.name)
	}

	switch {
	case x.code == sigsegv || x.code == sigbus:
		// si_addr is an address only if the kernel raised the signal for an access. It is not if a
		// process sent the signal, or for SI_KERNEL: then the fault was a general protection fault
		// of a non-canonical address, and si_addr is 0.
		switch {
		case e.name != "" || x.flags == 0:
			r.HasAddress, r.Why = true, e.text
		case x.flags == siKernel:
			r.Text, r.Why = "tried to access memory", "probably at an address that is not canonical; Linux does not say which"
		default:
			x.sender(&r, sig.name)
		}
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
		r.Text, r.Why = "was stopped by "+name, e.text
	}
}

// rustSignal returns rust-minidump's text of a signal with a general si_code or an unknown one.
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
