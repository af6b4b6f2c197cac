package text

import (
	"fmt"
	"io"
	"strings"

	"github.com/crashpane/crashpane/core/visible"
	"github.com/crashpane/crashpane/walker/report"
)

// WriteStackWords prints the words of a stack, a word in a line with what the walk found it to be and what it
// points to, below a line for each frame.
//
//	frame 1  main in app
//	0x7ffe0008  0x0000000000402020  return address of frame 2; start + 0x20
func WriteStackWords(w io.Writer, r *report.Report, words *report.StackWords) error {
	b := newPrinter(w)
	name := report.Name.Shown
	before := -2
	for i := range words.Rows {
		word := &words.Rows[i]
		if word.Frame != before {
			frames := r.Threads[words.Thread].Frames
			if before = word.Frame; before < 0 && word.Address < frames[len(frames)-1].Regs.SP() {
				b.printf("frames of a recursion that are not listed\n")
			} else if before < 0 {
				b.printf("after the last frame\n")
			} else {
				b.printf("frame %d  %s\n", r.Threads[words.Thread].Number(before), visible.Text(r.InFunction(&frames[before], name)))
			}
		}
		says := stackRoles(&r.Threads[words.Thread], word)
		if points := word.Points.Words(r, name); points != "" {
			says = append(says, points)
		}
		b.printf("%s\n", strings.TrimRight(fmt.Sprintf("0x%x  0x%0*x  %s", word.Address, 2*words.WordSize, word.Value, visible.Text(strings.Join(says, "; "))), " "))
	}
	return b.flush()
}

// stackRoles says what the walk found a word to be.
func stackRoles(t *report.Thread, w *report.StackWord) (says []string) {
	for i := range w.Roles {
		says = append(says, w.Roles[i].Words(t))
	}
	if w.Canary {
		says = append(says, "canary of the stack protector")
	}
	if w.PassedBy != "" {
		says = append(says, "passed by the scan: "+w.PassedBy)
	}
	return says
}
