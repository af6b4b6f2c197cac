package ticket

import (
	"fmt"
	"io"

	"github.com/crashpane/crashpane/walker/report/rows"
)

// WriteText writes plain text.
//
//	app tried to read 8 bytes at 0x10 (null pointer plus 16, through rax) in parse.
//
//	Dump:       app.dmp
//	Reason:     SIGSEGV / SEGV_MAPERR, address 0x10
//
//	Thread 0 (crashed), id 4711
//	 0  app!parse  [parse.c:12]  (context)
//	 ↳  app!next  [next.h:7]  (inline)
//	 1  app!main  [main.c:30]  (CFI)
//	End of the stack: …
//
//	Modules on this stack
//	app  version 1.2.3, app.pdb 5A9832E5287241C1838ED98914E9B7FF1
func WriteText(w io.Writer, t *Ticket) error {
	p := &printer{w: w}
	p.print(t.Verdict, "\n")
	for _, m := range t.Messages {
		p.print(m.Key, ": ", m.Value, "\n")
	}
	p.print("\n")
	writeFacts(p, t)
	writeStacks(p, t)
	return p.err
}

// writeFacts writes the facts, a line each.
func writeFacts(p *printer, t *Ticket) {
	width := 0
	for _, f := range t.Facts {
		width = max(width, len(f.Key))
	}
	for _, f := range t.Facts {
		p.printf("%-*s  %s\n", width+1, f.Key+":", f.Value)
	}
}

// writeStacks writes the stacks and the modules on the first.
func writeStacks(p *printer, t *Ticket) {
	for i := range t.Stacks {
		s := &t.Stacks[i]
		p.print("\n", s.Title, "\n")
		for k := range s.Frames {
			p.print(frameLine(&s.Frames[k]), "\n")
		}
		for _, line := range s.end() {
			p.print(line, "\n")
		}
	}
	if len(t.Modules) > 0 {
		p.print("\nModules on this stack\n")
	}
	for i := range t.Modules {
		p.print(t.Modules[i].Name, "  ", t.Modules[i].identity(), "\n")
	}
}

// frameLine is a frame as a line of plain text.
func frameLine(f *Frame) string {
	return fmt.Sprintf("%2s  %s", rows.FrameNumber(f.StackRow), rows.RowText(f.StackRow))
}
