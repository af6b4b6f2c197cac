package view

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
)

// Span is a piece of a sentence with its role: "" for plain text, "name" for what is spoken of, "code" for addresses and
// functions, "guess" for what is not certain.
type Span struct{ Text, Role string }

// Verdict is the sentence that a colleague would say: who, what, where.
func (v *View) Verdict() []Span {
	r := v.r
	who := Clean(BaseName(r.Process.Name))
	if who == "" {
		who = "The process"
	}
	out := []Span{{who, "name"}}
	say := func(text, role string) { out = append(out, Span{text, role}) }
	if r.Crash == nil && v.exceptionLost() {
		say(" cannot be judged: the dump is damaged, and its exception cannot be read.", "")
		return out
	}
	if r.Crash == nil {
		say(" did not crash: the dump holds no exception.", "")
		if r.HasRequesting {
			say(" It was written on request", "")
			if t := v.thread(r.FirstThread); t != nil {
				say(" by thread "+threadLabel(t), "")
			}
			say(".", "")
		}
		return out
	}
	what, address := deed(r.Crash)
	if tried, at, guess, ok := failure(r.Crash); ok {
		say(" "+tried+" ", "")
		say(short(at), "code")
		if guess == "" {
			guess = meaning(at, r.Dump.WordSize)
		}
		if guess != "" {
			say(" ("+guess+")", "guess")
		}
		address = false
	} else {
		say(" "+what, "")
	}
	if address {
		say(" ", "")
		say(short(r.Crash.Address), "code")
		if g := meaning(r.Crash.Address, r.Dump.WordSize); g != "" {
			say(" ("+g+")", "guess")
		}
	}
	if t := v.thread(r.Crash.Thread); t != nil && len(t.Frames) > 0 {
		v.where(&t.Frames[0], say)
	}
	say(".", "")
	return out
}

// exceptionLost reports whether the dump has an exception that could not be read: then nobody may say that there was none.
func (v *View) exceptionLost() bool {
	for _, d := range v.r.Diagnostics {
		if d.Severity == "error" && (strings.Contains(d.Text, "Exception") || strings.Contains(d.Text, "irectory")) {
			return true
		}
	}
	return false
}

// where names the function of the innermost call, or the place if there is no name.
func (v *View) where(f *report.Frame, say func(text, role string)) {
	name, in := "", " in "
	switch {
	case len(f.Inlines) > 0:
		name = v.full(f.Inlines[0].Function)
	case named(f):
		name = v.full(f.Function)
	}
	if name != "" {
		say(in, "")
		say(bare(name), "code")
		return
	}
	m := v.module(f.Module)
	if m == nil {
		say(", outside of every module", "")
		return
	}
	say(in, "")
	say(Clean(BaseName(m.Name))+"+"+short(f.RVA), "code")
}

// bare is a name without its parameters, for a sentence.
func bare(name string) string {
	s := foldTemplates(name)
	if strings.HasSuffix(s, ")") || strings.HasSuffix(s, ") const") {
		if p := cutParams(s); p != "" && !strings.HasSuffix(p, "operator") {
			return p
		}
	}
	return s
}

// cutParams cuts the parameters off, or returns "" if it cannot tell where they start.
func cutParams(s string) string {
	end := strings.LastIndexByte(s, ')')
	depth := 0
	for i := end; i >= 0; i-- {
		switch s[i] {
		case ')':
			depth++
		case '(':
			depth--
			if depth == 0 {
				return strings.TrimSpace(s[:i])
			}
		}
	}
	return ""
}

// reasonOf is the exception in rust-minidump's words, or in Breakpad's where it has none.
func reasonOf(c *report.Crash) string {
	if b := c.Reason.Breakpad; b != "" && (c.Reason.Rust == "" || strings.HasPrefix(c.Reason.Rust, "unknown ")) {
		return b
	}
	return c.Reason.Rust
}

// deed says in words what the exception was, and whether its address belongs to the sentence.
func deed(c *report.Crash) (what string, address bool) {
	both := c.Reason.Breakpad + " " + c.Reason.Rust
	has := func(word string) bool { return strings.Contains(both, word) }
	for _, d := range deeds {
		if has(d.word) {
			return d.what, d.address
		}
	}
	reason := reasonOf(c)
	if reason == "" {
		return "stopped with an exception without a known reason", false
	}
	return "stopped with " + Clean(reason), false
}

// deeds are the reasons in words, the more exact ones first. The words are parts of Breakpad's and rust-minidump's texts.
var deeds = []struct {
	word, what string
	address    bool
}{
	{"ACCESS_VIOLATION_READ", "read address", true},
	{"ACCESS_VIOLATION_WRITE", "wrote to address", true},
	{"ACCESS_VIOLATION_EXEC", "tried to execute address", true},
	{"ACCESS_VIOLATION", "accessed address", true},
	{"IN_PAGE_ERROR", "could not load the page of address", true},
	{"STACK_OVERFLOW", "ran out of stack at", true},
	{"FAST_FAIL_FATAL_APP_EXIT", "aborted itself", false},
	{"FAST_FAIL_LEGACY_GS_VIOLATION", "found its stack overwritten and stopped", false},
	{"FAST_FAIL_STACK_COOKIE_CHECK", "found its stack overwritten and stopped", false},
	{"FAST_FAIL_VTGUARD_CHECK", "found an object's vtable overwritten and stopped", false},
	{"FAST_FAIL_CORRUPT_LIST_ENTRY", "found a linked list corrupted and stopped", false},
	{"FAST_FAIL_INVALID_ARG", "passed an invalid argument and stopped", false},
	{"FAST_FAIL_RANGE_CHECK_FAILURE", "used an index out of range and stopped", false},
	{"FAST_FAIL_GUARD_ICALL", "made an indirect call that control flow guard forbids", false},
	{"FAST_FAIL_HEAP_METADATA", "found its heap corrupted and stopped", false},
	{"FAST_FAIL_", "stopped itself (fast fail)", false},
	{"STACK_BUFFER_OVERRUN", "found its stack overwritten and stopped", false},
	{"HEAP_CORRUPTION", "found its heap corrupted and stopped", false},
	{"INT_DIVIDE_BY_ZERO", "divided an integer by zero", false},
	{"FPE_INTDIV", "divided an integer by zero", false},
	{"FPE_FLTDIV", "divided a float by zero", false},
	{"SIGFPE", "hit an arithmetic error", false},
	{"EXC_ARITHMETIC", "hit an arithmetic error", false},
	{"PRIV_INSTRUCTION", "executed a privileged instruction", false},
	{"ILLEGAL_INSTRUCTION", "executed an illegal instruction", false},
	{"SIGILL", "executed an illegal instruction", false},
	{"EXC_BAD_INSTRUCTION", "executed an illegal instruction", false},
	{"SEGV_MAPERR", "accessed unmapped address", true},
	{"SEGV_ACCERR", "was not permitted to access address", true},
	{"SEGV_MTE", "failed a memory tag check at", true},
	{"SI_KERNEL", "accessed an address that cannot exist", false},
	{"BUS_ADRALN", "accessed unaligned address", true},
	{"SIGSEGV", "accessed address", true},
	{"SIGBUS", "failed to access address", true},
	{"SIGABRT", "aborted itself", false},
	{"SIGTRAP", "hit a breakpoint or trap", false},
	{"SIGSYS", "made a forbidden system call", false},
	{"KERN_INVALID_ADDRESS", "accessed unmapped address", true},
	{"KERN_PROTECTION_FAILURE", "was not permitted to access address", true},
	{"EXC_BAD_ACCESS", "accessed address", true},
	{"EXC_BREAKPOINT", "hit a breakpoint or trap", false},
	{"EXCEPTION_BREAKPOINT", "hit a breakpoint", false},
	{"EXC_CRASH", "aborted itself", false},
	{"EXC_GUARD", "misused a guarded resource", false},
	{"EXC_RESOURCE", "went over a resource limit", false},
	{"DUMP_REQUESTED", "was dumped on request", false},
	{"Simulated Exception", "was dumped on request", false},
	{"Out of Memory", "ran out of memory", false},
	{"Uncaught NSException", "threw an Objective-C exception that nobody caught", false},
	{"Unhandled C++ Exception", "threw a C++ exception that nobody caught", false},
	{"Pure Virtual Function Call", "called a pure virtual function", false},
	{"Invalid Parameter", "passed an invalid parameter to the C runtime", false},
}

// meaning says what an address looks like, as a guess.
func meaning(a uint64, word int) string {
	switch {
	case a == 0:
		return "null pointer"
	case a < 0x10000:
		return "null pointer plus " + short(a)
	case word == 8 && a == 1<<64-1, word == 4 && a == 1<<32-1:
		return "minus one"
	}
	return Pattern(a)
}

// Pattern knows the values with which debug heaps and allocators fill memory.
func Pattern(a uint64) string {
	lo := uint32(a)
	if hi := uint32(a >> 32); hi != 0 && hi != lo {
		return ""
	}
	switch lo &^ 0xff {
	case 0xdddddd00:
		return "near 0xdddddddd: memory freed by a debug heap, perhaps"
	case 0xcdcdcd00:
		return "near 0xcdcdcdcd: heap memory not yet set, perhaps"
	case 0xcccccc00:
		return "near 0xcccccccc: stack memory not yet set, perhaps"
	case 0xfeeefe00:
		return "near 0xfeeefeee: memory freed by the Windows heap, perhaps"
	case 0xe5e5e500:
		return "near 0xe5e5e5e5: memory freed by jemalloc, perhaps"
	case 0xabababab &^ 0xff:
		return "near 0xabababab: behind a heap block, perhaps"
	case 0xbaadf000:
		return "near 0xbaadf00d: heap memory not yet set, perhaps"
	case 0xdeadbe00:
		return "near 0xdeadbeef: a marker of freed memory, perhaps"
	}
	return ""
}

// threadLabel is a thread's number with its name.
func threadLabel(t *report.Thread) string {
	s := fmt.Sprint(t.Index)
	if t.Name != "" {
		s += " “" + Clean(t.Name) + "”"
	}
	return s
}
