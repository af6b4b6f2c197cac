package text

import (
	"fmt"
	"io"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
)

// WriteThreads prints a line for each thread: what it was doing, and its first function with a name.
//
//	5  stitch-1  crashed             tile::blend_edges in libtilecodec.so
//	4  watchdog  sleeps (a guess)    clock_nanosleep in libc.so.6
func WriteThreads(w io.Writer, r *report.Report, m *report.Merged) error {
	b := newPrinter(w)
	wide := 0
	for i := range r.Threads {
		wide = max(wide, min(len(r.Threads[i].Name), 24))
	}
	for i := range r.Threads {
		t := &r.Threads[i]
		b.printf("%4d  %s  %s  %s\n", t.Index, pad(t.Name, wide), pad(threadState(t, &m.States[i]), 30), topFunction(r, t, &m.States[i]))
	}
	writeHolders(b, m)
	return b.flush()
}

// threadState says what a thread was doing.
func threadState(t *report.Thread, s *report.State) string {
	switch {
	case t.Crashed:
		return "crashed"
	case t.Omitted:
		return "wrote the dump"
	case s.Guess:
		return s.Word + " (a guess)"
	}
	return s.Word
}

// topFunction names the frame that shows a thread's state, or its first one with a name.
func topFunction(r *report.Report, t *report.Thread, s *report.State) string {
	at := s.Frame
	for i := at; i < len(t.Frames) && s.Word == ""; i++ {
		if at = i; t.Frames[i].Named() {
			break
		}
	}
	if at >= len(t.Frames) {
		return "no frames"
	}
	return r.InFunction(&t.Frames[at], report.Name.Shown)
}

// WriteMerged prints the stacks of all threads as a tree, from the outermost frames on. A line begins with
// the number of threads where it changes. Branches in the system's libraries alone are one line, unless
// whole is set.
//
//	6  __clone3 in libc.so.6
//	   start_thread in libc.so.6
//	1    tile::encode_worker in libtilecodec.so    thread 5: crashed
//	3    3 threads: waits for a condition (a guess), pthread_cond_wait in libc.so.6    2, 3, 4
func WriteMerged(w io.Writer, r *report.Report, m *report.Merged, whole bool) error {
	b := newPrinter(w)
	b.printf("%d threads, %d different stacks\n", m.Threads, m.Stacks)
	for i := 0; i < len(m.Branches); i++ {
		x := &m.Branches[i]
		indent := strings.Repeat("  ", min(x.Level, 40))
		if x.System && !whole && m.Foldable(i) {
			what, which := m.FoldedText(r, i, report.Name.Shown)
			b.printf("%4d  %s%s    %s\n", len(x.Threads), indent, what, which)
			i = m.End(i) - 1
			continue
		}
		for k := range x.Frames {
			f := &x.Frames[k]
			count := ""
			if k == 0 {
				count = fmt.Sprint(len(x.Threads))
			}
			line := r.InFunction(&r.Threads[f.Thread].Frames[f.Frame], report.Name.Shown)
			if f.Repeat != nil {
				line += fmt.Sprintf("    (%d times %d frames)", f.Repeat.Times(), f.Repeat.Period)
			}
			if k == len(x.Frames)-1 && len(x.Ends) > 0 {
				line += "    " + m.EndsText(r, x)
			}
			b.printf("%4s  %s%s\n", count, indent, line)
		}
	}
	writeHolders(b, m)
	return b.flush()
}

// writeHolders prints the threads that others wait for.
func writeHolders(b *printer, m *report.Merged) {
	if len(m.Holders) > 0 || m.Unknown > 0 {
		b.printf("\n")
	}
	for i := range m.Holders {
		b.printf("%s\n", m.Holders[i].String())
	}
	if s := m.UnknownText(); s != "" {
		b.printf("%s\n", s)
	}
}
