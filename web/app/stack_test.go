package app

import (
	"strings"
	"testing"
)

// TestSecondStack: a button switches between the two stacks of a 32-bit process' thread, whose row
// stays selected. A thread with one stack has no button.
func TestSecondStack(t *testing.T) {
	p, _, e := newTestPage("")
	drop(p, e)
	if out := render(t, p); !strings.Contains(out, `data-arg="0" hidden`) || strings.Contains(out, "Show the 64-bit layer") {
		t.Error("a thread with one stack has a button to another")
	}
	both := screen()
	both.Stack.Switch, both.Stack.Other = "Show the 64-bit layer", 2
	both.Threads.Rows[0].HasSecond, both.Threads.Rows[0].Other = true, 2
	say(p, both)
	if out := render(t, p); !strings.Contains(out, `data-act="thread" data-arg="2"`) || !strings.Contains(out, "Show the 64-bit layer") {
		t.Error("there is no button to the second stack")
	}
	p.Act("thread", "2")
	both = screen()
	both.Stack.Thread, both.Stack.Title, both.Stack.Switch, both.Stack.Other = 2, "Thread 1, 64-bit layer", "Show the 32-bit stack", 1
	both.Threads.Rows[0].HasSecond, both.Threads.Rows[0].Other = true, 2
	say(p, both)
	if out := render(t, p); !strings.Contains(out, "Thread 1, 64-bit layer") || !strings.Contains(out, "Show the 32-bit stack") {
		t.Error("the second stack does not say what it is")
	}
	if !p.Threads.selects(p.Threads.Rows[0]) || p.Threads.selects(p.Threads.Rows[1]) || p.Threads.active() != any(rowID("thread", 1)) {
		t.Errorf("the row of the thread is not selected: %v", p.Threads.active())
	}
	p.Act("thread", "1")
	if p.State.Thread != 1 {
		t.Errorf("thread %d", p.State.Thread)
	}
}
