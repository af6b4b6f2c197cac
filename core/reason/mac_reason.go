package reason

import (
	"fmt"

	"github.com/crashpane/crashpane/core"
)

// Mach exceptions with codes of their own (mach/exception_types.h).
const (
	excBadAccess      = 1
	excBadInstruction = 2
	excArithmetic     = 3
	excSoftware       = 5
	excBreakpoint     = 6
	excResource       = 11
	excGuard          = 12
	excSimulated      = 0x43507378 // Crashpad's, for a dump without a crash
	excUncaughtNS     = 0x43506e78 // Crashpad's, for an Objective-C exception
)

// macTables has the tables of an exception's codes, by processor.
var macTables = [...]struct{ arm, ppc, x86 table }{
	excBadAccess:      {tMacAccessArm, tMacAccessPpc, tMacAccessX86},
	excBadInstruction: {tMacInstrArm, tMacInstrPpc, tMacInstrX86},
	excArithmetic:     {tMacArithArm, tMacArithPpc, tMacArithX86},
	excBreakpoint:     {tMacBreakArm, tMacBreakPpc, tMacBreakX86},
}

// macKind returns the class of an exception.
func macKind(code uint32) Kind {
	switch code {
	case excBadAccess:
		return Memory
	case excBadInstruction:
		return Instruction
	case excArithmetic:
		return Arithmetic
	case excBreakpoint:
		return Trap
	case excResource, excGuard:
		return Limit
	case excSimulated:
		return NoCrash
	case excUncaughtNS:
		return Exception
	}
	return Signal
}

// mac decodes a Mach exception: the exception code is the exception type (EXC_…), the flags are its
// first code.
func (x *record) mac(r Reason) Reason {
	exc := find(tMac, x.code)
	if exc == (entry{}) {
		return r
	}
	r.Kind, r.Text = macKind(x.code), exc.text
	r.Name = exc.name
	// Apple's own exceptions have a first code, Crashpad's (above them) have not.
	if x.code <= excGuard {
		r.Name = fmt.Sprintf("%s / 0x%08x", exc.name, x.flags)
	}
	var e entry
	switch x.code {
	case excBadAccess:
		r.HasAddress = true
		// The code is a kern_return_t, or else one of the processor's.
		if e = find(tMacKern, x.flags); e.name == "" {
			e = x.macCPU()
			r.Stated = e.name != ""
		}
	case excBadInstruction, excArithmetic, excBreakpoint:
		e = x.macCPU()
	case excSoftware:
		e = find(tMacSoft, x.flags)
		switch e.name {
		case "SIGABRT":
			r.Kind = Abort
		case "EXC_SOFT_SIGNAL":
			e = x.softSignal(&r, e)
		case "UNCAUGHT_NS_EXCEPTION":
			r.Kind = Exception
		case "EXC_PPC_TRAP":
			r.Kind = Trap
		}
	case excResource:
		x.resource(&r)
	case excGuard:
		x.guard(&r)
	}
	if e.name != "" {
		r.Name = exc.name + " / " + e.name
	}
	switch {
	case x.code == excBadAccess && e.name == "EXC_I386_GPFLT":
		// A general protection fault has no address.
		r.HasAddress, r.Stated = false, false
		r.Text, r.Why = "tried to access memory", "probably at an address that is not canonical; the system does not say which"
	// The address is the stack pointer or that of the instruction.
	case e.name == "EXC_ARM_SP_ALIGN":
		r.HasAddress = false
		r.Text, r.Why = "tried to access the stack", e.text
	case e.name == "EXC_ARM_PAC_FAIL":
		r.HasAddress = false
		r.Text, r.Why = "used a pointer that is not valid", e.text
	case x.code == excBadAccess:
		r.Why = e.text
	case e.text != "":
		r.Text = e.text
	}
	return r
}

// softSignal decodes a signal that the kernel turned into an exception, as it does for a debugger:
// the exception's second code is the signal's number (EXC_SOFT_SIGNAL, mach/exception_types.h).
func (x *record) softSignal(r *Reason, e entry) entry {
	number, ok := macSignals[uint32(x.param(2))]
	if sig := find(tLinux, number); ok && sig.name != "" {
		r.Kind = signalKind(sig.name)
		return entry{name: e.name + " / " + sig.name, text: sig.text}
	}
	return e
}

// macCPU returns the entry of the flags in the exception's codes for the processor.
func (x *record) macCPU() entry {
	t := macTables[x.code]
	switch x.processor {
	case core.ProcARM, core.ProcARM64, core.ProcARM64Old:
		return find(t.arm, x.flags)
	case core.ProcPPC:
		return find(t.ppc, x.flags)
	case core.ProcX86, core.ProcAMD64, core.ProcX86Win64:
		return find(t.x86, x.flags)
	}
	return entry{}
}

// resource decodes EXC_RESOURCE. The type is in the top three bits of the flags. params[1] and
// params[2] are the exception's code and subcode, packed as in XNU's osfmk/kern/exc_resource.h.
func (x *record) resource(r *Reason) {
	typ := find(tMacResource, x.flags>>29)
	if typ.name == "" {
		return
	}
	r.Text = typ.text
	code, sub := x.param(1), x.param(2)
	flavors := map[string]table{
		"RESOURCE_TYPE_CPU": tMacResCpu, "RESOURCE_TYPE_WAKEUPS": tMacResWakeups, "RESOURCE_TYPE_MEMORY": tMacResMemory,
		"RESOURCE_TYPE_IO": tMacResIo, "RESOURCE_TYPE_THREADS": tMacResThreads,
	}
	r.Name = "EXC_RESOURCE / " + typ.name + " / "
	// The flavor is in bits 58 to 60 of the code; what the lower bits mean depends on the type.
	flavor := find(flavors[typ.name], uint32(code>>58&7)).name
	if flavor == "" {
		r.Name += fmt.Sprintf("0x%016x / 0x%016x", code, sub)
		return
	}
	r.Name += flavor
	switch typ.name {
	case "RESOURCE_TYPE_CPU":
		r.Name += fmt.Sprintf(" interval: %ds CPU limit: %d%% CPU consumed: %d%%", code>>7&0x1ffffff, code&7, sub&7)
	case "RESOURCE_TYPE_WAKEUPS":
		r.Name += fmt.Sprintf(" interval: %ds wakeups permitted: %d wakeups observed: %d", code>>20&0xfffff, code&0xfff, sub&0xfff)
	case "RESOURCE_TYPE_MEMORY":
		r.Name += fmt.Sprintf(" high watermark limit: %dMiB", code&0x1fff)
	case "RESOURCE_TYPE_IO":
		r.Name += fmt.Sprintf(" interval: %ds I/O limit: %d%% I/O observed: %d%%", code>>15&0x1ffff, code&0x7fff, sub&0x7fff)
	case "RESOURCE_TYPE_THREADS":
		r.Name += fmt.Sprintf(" high watermark limit: %d", code&0x7fff)
	}
}

// guard decodes EXC_GUARD. The type is in the top three bits of the flags. params[1] and params[2]
// are the exception's code and subcode, packed as in XNU's osfmk/kern/exc_guard.h.
func (x *record) guard(r *Reason) {
	typ := find(tMacGuard, x.flags>>29)
	if typ.name == "" {
		return
	}
	if typ.text != "" {
		r.Text = typ.text
	}
	code, sub := x.param(1), x.param(2)
	r.Name = "EXC_GUARD / " + typ.name
	var t table
	switch typ.name {
	case "GUARD_TYPE_NONE":
		return
	case "GUARD_TYPE_USER":
		r.Name += fmt.Sprintf(" / namespace: %d guard identifier: %d", code&0xffffffff, sub)
		return
	case "GUARD_TYPE_MACH_PORT":
		t = tMacGuardPort
	case "GUARD_TYPE_FD":
		t = tMacGuardFd
	case "GUARD_TYPE_VN":
		t = tMacGuardVn
	case "GUARD_TYPE_VIRT_MEMORY":
		t = tMacGuardVm
	case "GUARD_TYPE_REJECTED_SC":
		t = tMacGuardSyscall
	}
	// The flavor is in the upper half of the code, below the type.
	flavor := find(t, uint32(code>>32&0x1fffffff)).name
	if flavor == "" {
		r.Name += fmt.Sprintf(" / 0x%016x / 0x%016x", code, sub)
		return
	}
	r.Name += " / " + flavor
	switch t {
	case tMacGuardPort:
		r.Name += fmt.Sprintf(" port name: %d", code&0xfffffff)
		if sub != 0 {
			r.Name += fmt.Sprintf(" subcode: %d", sub)
		}
	case tMacGuardFd:
		r.Name += fmt.Sprintf(" file descriptor: %d guard identifier: %d", code&0xfffffff, sub)
	case tMacGuardVn:
		r.Name += fmt.Sprintf(" pid: %d guard identifier: %d", code&0xfffffff, sub)
	case tMacGuardVm:
		r.Name += fmt.Sprintf(" offset: %d", sub)
	case tMacGuardSyscall:
		r.Name += fmt.Sprintf(" syscall: %d", sub)
	}
}
