package report

import "testing"

// A text of LLDB that only names the signal is not shown as a message of the program.
func TestSignalAlone(t *testing.T) {
	for text, want := range map[string]bool{"signal SIGABRT": true, "signal SIGABRT ": true, "signal SIGABRT: sent by tkill system call (sender pid=1)": false,
		"SIGSEGV: address not mapped to object (fault address=0x18)": false, "EXC_BREAKPOINT (code=1)": false, "": false} {
		if isSignalAlone(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
