package report

import "fmt"

// Code is the instructions around an address, in order.
type Code struct {
	// Place is what the address is in.
	Place Place
	// From is the file that the instructions were read from, "" for the dump's memory.
	From string
	// Unread says why no instruction could be read, or is "". Absent: it is because no file has the
	// code.
	Unread string
	Absent bool
	// Guessed: the rows do not begin where a function does, because no symbol says where, or its code is
	// not there, so that where the first instruction begins is a guess; that of the address and those
	// after it are not.
	Guessed bool
	Rows    []CodeRow
	// MoreBefore, MoreAfter: there is further code.
	MoreBefore, MoreAfter bool
	// Link is the link that debug information has to the source file of the frame: "https://…", or "".
	Link string
}

// CodeRow is an instruction. Its Text is "" if the decoder does not know it.
type CodeRow struct {
	Instruction
	// File and Line are the position in the source where it differs from the row before; Line is 0
	// elsewhere. Source is the text of the line, if the source file was added.
	File   string
	Line   uint32
	Source string
	// In is what the instruction is in. Place is where it goes, or without a target what has Data.
	In Place
	// Data is the address of an operand, if the instruction says it, else 0.
	Data uint64
	// Call: it is a call. Callee is the number of the frame that it led to, or -1.
	Call   bool
	Callee int
	// At: the frame is here. Values are then the registers that the instruction names and that the
	// frame has.
	At     bool
	Values []RegisterValue
	// Rule says how a caller is found from here on, where it differs from the row before, in the words of "crashpane
	// rules": "cfa rsp+16, ra cfa-8". It is that of a file's outline, and "" for code of a dump.
	Rule string
	// Jump says for a conditional jump at an exception whether it is taken; nil elsewhere.
	Jump *Jump
}

// Starts reports whether a function begins here.
func (r *CodeRow) Starts() bool { return r.In.Function.Raw != "" && r.In.Offset == 0 }

// Notes says what is known about the instruction here: the frame that it called, whether it jumps, the unwind rule from here on.
func (r *CodeRow) Notes() (notes []string) {
	if r.Callee >= 0 {
		notes = append(notes, fmt.Sprintf("called frame %d", r.Callee))
	}
	if r.Jump != nil {
		notes = append(notes, r.Jump.Text())
	}
	if r.Rule != "" {
		notes = append(notes, "rule: "+r.Rule)
	}
	return notes
}

// Jump is what a conditional jump does, and what decides it: "ZF is 1".
type Jump struct {
	Taken bool
	Why   string
}

// Text is "taken: ZF is 1".
func (j *Jump) Text() string {
	if j.Taken {
		return "taken: " + j.Why
	}
	return "not taken: " + j.Why
}

// RegisterValue is a register and its value.
type RegisterValue struct {
	Name  string
	Value uint64
}

// Demangle sets the display name of every function.
func (c *Code) Demangle(f func(string) string) {
	c.Place.Function.demangle(f)
	for i := range c.Rows {
		c.Rows[i].Place.Function.demangle(f)
		c.Rows[i].In.Function.demangle(f)
	}
}

// Wanted names the file that has the code, if none is there: "libfoo.so with id 5f2a…", or "".
func (c *Code) Wanted(r *Report) string {
	if !c.Absent || c.Place.Module < 0 || nameless(r.Modules[c.Place.Module].Name) {
		return ""
	}
	m := &r.Modules[c.Place.Module]
	switch {
	case m.CodeID != "":
		return m.Title() + " with id " + m.CodeID
	case m.DebugID != "":
		return m.Title() + " with debug id " + m.DebugID
	}
	return m.Title()
}
