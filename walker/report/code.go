package report

// Code is the instructions around an address, in order.
type Code struct {
	// Place is what the address is in.
	Place Place
	// From is the file that the instructions were read from, "" for the dump's memory.
	From string
	// Unread says why no instruction could be read, or is "".
	Unread string
	// Guessed: no symbol says where the function begins, so that where the first instruction begins
	// is a guess; that of the address and those after it are not.
	Guessed bool
	Rows    []CodeRow
}

// CodeRow is an instruction. Its Text is "" if the decoder does not know it.
type CodeRow struct {
	Instruction
	// File and Line are the position in the source where it differs from the row before; Line is 0
	// elsewhere.
	File string
	Line uint32
	// At: the frame is here. Values are then the registers that the instruction names and that the
	// frame has.
	At     bool
	Values []RegisterValue
}

// RegisterValue is a register and its value.
type RegisterValue struct {
	Name  string
	Value uint64
}

// Demangle sets the display name of every function.
func (c *Code) Demangle(f func(string) string) {
	names := []*Name{&c.Place.Function}
	for i := range c.Rows {
		names = append(names, &c.Rows[i].Place.Function)
	}
	for _, n := range names {
		if n.Raw != "" {
			n.Display = f(n.Raw)
		}
	}
}
