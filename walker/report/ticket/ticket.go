// Package ticket writes what a bug tracker needs of a crash: one model, Ticket, and a small renderer
// for each form. Package view makes the model of a report. Texts in it are from files, and every
// renderer escapes them for its form.
//
//	text.go       plain text
//	markdown.go   Markdown, as GitHub and GitLab have it
//	jira.go       Jira's wiki markup
//	windbg.go     the lines of WinDbg's k
//	csv.go        the modules as CSV
//	html.go       a page in one file
//	json.go       JSON
//	brief.go      at most 8 KB, for a ticket or an assistant
package ticket

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
)

// Ticket is a crash as plain data.
type Ticket struct {
	// Dump is the dump's name, Verdict what happened, as a sentence.
	Dump, Verdict string
	// Messages has the program's own messages about its end.
	Messages []rows.Fact
	// Facts are the dump, its time, the product, the process, its uptime, the system, the exception
	// and the signature, as far as they are known. Code is about the instruction that crashed.
	Facts, Code []rows.Fact
	// Registers are those of the first frame.
	Registers []rows.Register
	// Stacks are the stacks of threads: first that which the ticket is about.
	Stacks []Stack
	// Modules are those on the first stack, in its order. AllModules are all of the dump.
	Modules, AllModules []Module
	// Missing has a line for each missing symbol file, Findings says why stacks are incomplete.
	Missing  []string
	Findings []rows.FindingRow
	// WordSize is the size of an address in bytes. FramePointer: WinDbg shows ebp in place of the
	// stack pointer, as for x86.
	WordSize     int
	FramePointer bool
	// Hidden: private texts are hidden.
	Hidden bool
}

// Stack is the stack of a thread.
type Stack struct {
	Title  string // "Thread 0 “main” (crashed), id 4711"
	Frames []Frame
	// Total is the number of the stack's frames, without inlined calls. Frames has fewer if the
	// stack is long.
	Total int
	// Stop says why the stack ends, Suggestion what would make it more complete, or "".
	Stop, Suggestion string
	// Quality says in one line how reliable the stack is.
	Quality string
}

// Frame is one row of a stack.
type Frame struct {
	rows.StackRow
	// Several is how many frames the row is for, if it is not for a single one: those that repeat the
	// ones above, or guesses. Its Kind is RowGuesses or RowRepeat then, and Function says what they are.
	Several int
	// Call is the frame as WinDbg has it: "app!parse+0x1c". Child is its stack pointer or frame
	// pointer, Return the address to which it returns; 0 if unknown.
	Call          string
	Child, Return uint64
}

// Module is a module with its identity.
type Module struct {
	rows.ModuleRow
	Size uint64
}

// Form is a form of tickets. ID is what crashpane report takes. About is what the command's help says of it, or "".
// All: it has the stacks of all threads, others that of one. Write writes it.
type Form struct {
	ID, About string
	All       bool
	Write     func(w io.Writer, t *Ticket) error
}

// Forms are all forms.
var Forms = []Form{
	{"text", "", false, WriteText},
	{"markdown", "", false, WriteMarkdown},
	{"jira", "its wiki markup", false, WriteJira},
	{"windbg", "as WinDbg's k", false, WriteWinDbg},
	{"csv", "all modules", false, WriteModules},
	{"json", "", false, WriteJSON},
	{"brief", "at most 8 KB", false, WriteBrief},
	{"html", "a page in one file", true, WriteHTML},
}

// Map replaces every text of the ticket.
func (t *Ticket) Map(text func(string) string) { mapTexts(reflect.ValueOf(t).Elem(), text) }

// mapTexts replaces the texts in a value.
func mapTexts(v reflect.Value, text func(string) string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text(v.String()))
	case reflect.Struct:
		for i := range v.NumField() {
			mapTexts(v.Field(i), text)
		}
	case reflect.Slice:
		for i := range v.Len() {
			mapTexts(v.Index(i), text)
		}
	}
}

// after returns how many frames of the stack are not in its first n rows.
func (s *Stack) after(n int) int {
	left := s.Total
	for i := range s.Frames[:n] {
		if left -= s.Frames[i].Several; s.Frames[i].Kind == rows.RowFrame {
			left--
		}
	}
	return left
}

// More returns how many frames of the stack come after those of Frames.
func (s *Stack) More() int { return s.after(len(s.Frames)) }

// moreFrames is the text after the frames of a stack that has n more, or "".
func moreFrames(n int) string {
	switch {
	case n <= 0:
		return ""
	case n == 1:
		return "1 more frame is not shown"
	}
	return rows.Number(n) + " more frames are not shown"
}

// end returns the lines after the last frame.
func (s *Stack) end() []string {
	var out []string
	for _, line := range []string{moreFrames(s.after(len(s.Frames))), s.Stop, s.Suggestion} {
		if line != "" {
			out = append(out, line)
		}
	}
	return out
}

// identity returns a module's version and ids: "1.2.3, app.pdb 5A98…1, code id 4C2…".
func (m *Module) identity() string {
	var out []string
	if m.Version != "" {
		out = append(out, "version "+m.Version)
	}
	if id := strings.TrimSpace(m.DebugFile + " " + m.DebugID); id != "" {
		out = append(out, id)
	}
	if m.CodeID != "" {
		out = append(out, "code id "+m.CodeID)
	}
	if len(out) == 0 {
		return "no version and no id"
	}
	return strings.Join(out, ", ")
}

// printer writes text and keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) print(texts ...string) {
	for _, s := range texts {
		if p.err == nil {
			_, p.err = io.WriteString(p.w, s)
		}
	}
}

func (p *printer) printf(format string, args ...any) { p.print(fmt.Sprintf(format, args...)) }
