package walker

import (
	"fmt"

	"github.com/crashpane/crashpane/core"
)

// outermost are the functions that nobody calls: the system enters them with a made-up stack, so whatever a search above
// them finds is left over from something else. rust-minidump 918 asks for this; both peers scan on, and print what the
// dynamic loader left there as callers of _start.
//
// gdb stops at the same places: their call frame information says that there is no return address (System V ABI, AMD64,
// 3.4.1: the frame pointer of _start is 0 to mark the deepest frame), which dump_syms writes as a record without .ra.
var outermost = map[core.OS][]string{
	core.OSLinux: {"_start", "__clone", "clone", "__clone3", "clone3", "_dl_start_user"},
	core.Android: {"_start", "__bionic_clone"},
	core.MacOS:   {"start", "_start", "thread_start", "start_wqthread"},
	core.IOS:     {"start", "_start", "thread_start", "start_wqthread"},
	core.Windows: {"RtlUserThreadStart", "_RtlUserThreadStart", "_RtlUserThreadStart@8", "BaseProcessStart", "BaseThreadStart"},
}

// ended says of the top frame that it has no caller, if its function is one of those and its rules give no return address.
func (s *walk) ended() *Stop {
	f := s.top()
	if !s.Policy.EndAtOutermost || f.Trust == TrustContext || s.symbol(f).Name == "" {
		return nil
	}
	for _, name := range outermost[s.OS] {
		if f.Symbol.Name == name {
			return &Stop{Kind: StopEnd, Detail: fmt.Sprintf("%s is where the system starts a thread: it has no caller", name)}
		}
	}
	return nil
}
