package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/protocol"
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
	if !p.Threads.selects(p.Threads.Rows[0]) || p.Threads.selects(p.Threads.Rows[1]) || p.Threads.active() != any(words.RowID("thread", 1)) {
		t.Errorf("the row of the thread is not selected: %v", p.Threads.active())
	}
	p.Act("thread", "1")
	if p.State.Thread != 1 {
		t.Errorf("thread %d", p.State.Thread)
	}
}

// TestGuesses: the row of many possible callers lists them, and hides them again. A frame that is
// hidden then is not selected any more. Keys pass over the row.
func TestGuesses(t *testing.T) {
	p, host, e := newTestPage("")
	drop(p, e)
	few := screen()
	n := few.Stack.Frames
	row := rows.StackRow{Kind: rows.RowGuesses, Frame: -1, Inline: -3 - n, ModuleIndex: -1, Other: -1, Function: "9 possible callers, found by scanning: show"}
	end := rows.StackRow{Kind: rows.RowFrame, Frame: n + 9, Inline: -1, ModuleIndex: -1, Other: -1, Function: "end", Full: "end"}
	few.Stack.Rows = append(slices.DeleteFunc(few.Stack.Rows, func(r rows.StackRow) bool { return r.Kind == rows.RowStop }), row, end)
	few.Stack.Total, few.Stack.Frames, few.Stack.Folds = len(few.Stack.Rows), n+10, []rows.Run{{From: n, Count: 9}}
	say(p, few)
	if out := render(t, p); !strings.Contains(out, `data-act="guesses"`) || !strings.Contains(out, "9 possible callers, found by scanning: show") || p.Stack.count() != words.Count(n+1, "frame")+" · 9 possible callers" {
		t.Errorf("%s: %s", p.Stack.count(), out)
	}
	p.Stack.toRow(p.Stack.Total - 3)
	p.Act("next-frame", "")
	if p.State.Frame != n+9 {
		t.Errorf("the next frame is %d", p.State.Frame)
	}
	p.Stack.Selected = p.Stack.Total - 1
	p.Act("previous-frame", "")
	if p.State.Frame != n-1 {
		t.Errorf("the previous frame is %d", p.State.Frame)
	}
	p.Act("guesses", "")
	say(p, few)
	if q := last[protocol.Query](e); !q.ShowGuesses || !strings.Contains(host.address, "guesses=shown") {
		t.Errorf("%+v %s", q, host.address)
	}
	p.selectFrame(n+3, 0)
	p.Act("guesses", "")
	if p.State.ShowGuesses || p.State.Frame != n-1 || p.State.Inline != -1 {
		t.Errorf("%+v", p.State)
	}
	say(p, few)
	// A guess that a search or a link selects is shown.
	p.selectFrame(n+3, -1)
	say(p, few)
	if !p.State.ShowGuesses {
		t.Error("the selected guess is hidden")
	}
}

// TestFrameThatIsNotListed: an address that names a frame of a recursion that is not listed selects the next one, whose
// registers are shown, but not after the user has selected another.
func TestFrameThatIsNotListed(t *testing.T) {
	for _, moved := range []bool{false, true} {
		p, h, e := newTestPage("thread=1&frame=1")
		drop(p, e)
		p.selectFrame(1, -1)
		if !moved {
			delete(p.Screen.Dirty, &p.Frame) // it was queried
		}
		p.Frame.Apply(&protocol.QueryResult{Detail: &rows.FrameDetail{Thread: 1, Frame: 2, Inline: -1}})
		want := 2
		if moved {
			want = 1
		}
		if p.State.Frame != want || !moved && !strings.Contains(h.address, "frame=2") {
			t.Errorf("moved %v: frame %d, %s", moved, p.State.Frame, h.address)
		}
	}
}

// TestThreadThatThereIsNot: an address or a host page may name a thread that the dump does not have. Then the page shows
// the one that the engine chose, and says so. A result of a thread that was selected before changes nothing.
func TestThreadThatThereIsNot(t *testing.T) {
	p, h, e := newTestPage("#dump=a.dmp&thread=888&frame=2")
	drop(p, e)
	for p.Pace.asking { // the first result comes while there is more to read
		say(p, screen())
	}
	if p.State.Thread != 1 || p.State.Frame != 0 || len(p.Stack.Rows) == 0 || h.address != "dump=a.dmp&thread=1" || len(h.entries) != 0 {
		t.Errorf("thread %d, frame %d, %d rows, address %q, entries %v", p.State.Thread, p.State.Frame, len(p.Stack.Rows), h.address, h.entries)
	}
	p.Select(777, -1, "", "")
	if say(p, screen()); p.State.Thread != 1 || !strings.Contains(render(t, p), "Thread 1") {
		t.Errorf("thread %d is selected", p.State.Thread)
	}
	for p.Pace.asking {
		say(p, &protocol.QueryResult{})
	}
	p.Act("thread", "0")
	p.Act("thread", "5")
	if say(p, screen()); p.State.Thread != 5 {
		t.Errorf("a result of another thread selects %d", p.State.Thread)
	}
}
