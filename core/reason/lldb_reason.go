package reason

import (
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core"
)

// lldbWords are LLDB's words for the si_codes of a signal, and for those of any signal.
//
// Source: LLVM's lldb/source/Plugins/Process/Utility/LinuxSignals.cpp and UnixSignals.cpp.
var lldbWords = map[string][]struct {
	code  uint32
	words string
}{
	"SIGILL": {{1, "illegal opcode"}, {2, "illegal operand"}, {3, "illegal addressing mode"}, {4, "illegal trap"},
		{5, "privileged opcode"}, {6, "privileged register"}, {7, "coprocessor error"}, {8, "internal stack error"}},
	"SIGBUS": {{1, "illegal alignment"}, {2, "illegal address"}, {3, "hardware error"}},
	"SIGFPE": {{1, "integer divide by zero"}, {2, "integer overflow"}, {3, "floating point divide by zero"}, {4, "floating point overflow"},
		{5, "floating point underflow"}, {6, "floating point inexact result"}, {7, "floating point invalid operation"}, {8, "subscript out of range"}},
	"SIGSEGV": {{1, "address not mapped to object"}, {2, "invalid permissions for mapped object"}, {3, "failed address bounds checks"},
		{8, "async tag check fault"}, {9, "sync tag check fault"}, {10, "control protection fault"}, {siKernel, "invalid address"}},
	"": {{siKernel, "sent by kernel"}, {0xffffffff, "sent by sigqueue"}, {0xfffffffa, "sent by tkill"}, {0, sentByKill}},
}

// sentByKill are LLDB's words of a signal that kill has sent: its si_code is 0, which writers that have none
// store for others, too.
const sentByKill = "sent by kill"

// SentByKill reports whether LLDB's text of an exception says so.
func SentByKill(text string) bool { return strings.Contains(text, sentByKill) }

// SenderInText returns the process that sent a signal by LLDB's text, or 0.
func SenderInText(text string) uint32 {
	v, _ := lldbNumber(text, "sender pid")
	return uint32(v)
}

// lldb decodes an exception that LLDB wrote, from its text:
//
//	SIGSEGV: address not mapped to object (fault address=0x10)     Linux
//	signal SIGSEGV: invalid address                                older releases
//	EXC_BAD_ACCESS (code=1, address=0x10)                          macOS
//	breakpoint 1.1                                                 no signal: LLDB stopped the process
func lldb(d *core.Dump) Reason {
	e := d.Exception
	os, processor := core.OSUnknown, uint16(core.ProcUnknown)
	if d.System != nil {
		os, processor = d.System.OS, d.System.Processor
	}
	decoded := func(flags uint32, addr uint64) Reason {
		return DecodeFor(os, processor, e.Code, flags, addr, nil)
	}
	text := strings.TrimPrefix(e.Text, "signal ")
	switch {
	case strings.HasPrefix(text, "SIG"):
		name, rest, _ := strings.Cut(text, ":")
		addr, _ := lldbNumber(rest, "fault address")
		for _, key := range []string{name, ""} {
			for _, w := range lldbWords[key] {
				if strings.Contains(rest, w.words) {
					return decoded(w.code, addr)
				}
			}
		}
		r := decoded(e.Flags, e.Address)
		r.Name, _, _ = strings.Cut(r.Name, " / ") // LLDB's mark is no si_code
		return r
	case strings.HasPrefix(text, "EXC_"):
		code, ok := lldbNumber(text, "code")
		addr, has := lldbNumber(text, "address")
		if !ok {
			code = uint64(e.Flags)
		}
		if !has {
			addr = e.Address
		}
		return decoded(uint32(code), addr)
	}
	r := DecodeFor(core.OSUnknown, processor, e.Code, e.Flags, e.Address, nil)
	r.Kind, r.Text, r.Why = NoCrash, "was stopped in LLDB", e.Text
	return r
}

// lldbNumber returns the number after a name and "=" or ": " in LLDB's text.
func lldbNumber(text, name string) (uint64, bool) {
	_, rest, found := strings.Cut(text, name)
	if !found {
		return 0, false
	}
	rest = strings.TrimLeft(rest, "=: ")
	if end := strings.IndexAny(rest, ",) "); end >= 0 {
		rest = rest[:end]
	}
	v, err := strconv.ParseUint(rest, 0, 64)
	return v, err == nil
}
