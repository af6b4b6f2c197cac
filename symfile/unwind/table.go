package unwind

// Table is a section of unwind information (.eh_frame, .sframe, .ARM.exidx …), opened. Addresses are module-relative: what the
// file says, less the address at which the file asks to be loaded.
type Table interface {
	// Row is the rules at an address. False says that no entry covers it. An entry that covers it and gives no rules answers
	// false with an Origin that has the reason in its Note. An error is one of the file's reader or names what is wrong with
	// the section, and where.
	Row(rva uint64) (Row, bool, error)
	// Each calls f for every stretch of code [start, end) in which the rules are the same, by address as far as the section is
	// sorted, until f answers an error, which it returns. Entries that cannot be read are passed over and counted among
	// Warnings.
	Each(f func(start, end uint64, row Row) error) error
	// Warnings are what was passed over so far, each with its place; of each kind the first are kept.
	Warnings() []string
}
