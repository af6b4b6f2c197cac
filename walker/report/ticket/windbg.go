package ticket

import (
	"fmt"
	"io"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
)

// WriteWinDbg writes the first stack as WinDbg's k prints it, after the facts as comments of that
// debugger (lines that begin with "*").
//
//	 # Child-SP          RetAddr               Call Site
//	00 000000d2`8f5ff6a8 00007ff6`12345678     app!parse+0x1c [parse.c @ 12]
//	01 (Inline Function) --------`--------     app!next [next.h @ 7]
//
// On x86:
//
//	 # ChildEBP RetAddr
//	00 0018ff28 00401234 app!main+0x5 [main.c @ 3]
//
// Source: Debugger help, "k, kb, kc, kd, kp, kP, kv (Display Stack Backtrace)".
func WriteWinDbg(w io.Writer, t *Ticket) error {
	p := &printer{w: w}
	p.print("* ", t.Verdict, "\n")
	for _, f := range append(append([]rows.Fact{}, t.Messages...), t.Facts...) {
		p.print("* ", f.Key, ": ", f.Value, "\n")
	}
	for i := range t.Stacks {
		windbgStack(p, t, &t.Stacks[i])
	}
	for i := range t.Modules {
		p.print("* ", t.Modules[i].Name, ": ", t.Modules[i].identity(), "\n")
	}
	return p.err
}

func windbgStack(p *printer, t *Ticket, s *Stack) {
	p.print("*\n* ", s.Title, "\n")
	child, inline, gap := "Child-SP", "(Inline Function) --------`--------", "    "
	if t.WordSize == 4 {
		inline, gap = "(Inline) --------", ""
	}
	if t.FramePointer {
		child = "ChildEBP"
	}
	p.printf(" # %-*s %-*s%s Call Site\n", len(windbgAddress(t, 0)), child, len(windbgAddress(t, 0)), "RetAddr", gap)
	for number := range s.Frames {
		f := &s.Frames[number]
		if f.Several > 0 {
			p.print("* ", f.Function, "\n")
			continue
		}
		where := windbgAddress(t, f.Child) + " " + windbgAddress(t, f.Return)
		if f.Kind == rows.RowInline {
			where = inline
		}
		p.printf("%02x %s%s %s", number, where, gap, f.Call)
		if file, line, ok := cutLine(f.Path); ok {
			p.print(" [", file, " @ ", line, "]")
		}
		p.print("\n")
	}
	for _, line := range s.end() {
		p.print("* ", line, "\n")
	}
}

// windbgAddress is an address as WinDbg has it: those of 64 bits are in two halves.
func windbgAddress(t *Ticket, a uint64) string {
	if t.WordSize == 4 {
		return fmt.Sprintf("%08x", uint32(a))
	}
	return fmt.Sprintf("%08x`%08x", a>>32, uint32(a))
}

// cutLine divides "path:12"; false if it has no line.
func cutLine(path string) (file, line string, ok bool) {
	i := strings.LastIndexByte(path, ':')
	if i < 0 || i+1 == len(path) || strings.Trim(path[i+1:], "0123456789") != "" {
		return "", "", false
	}
	return path[:i], path[i+1:], true
}
