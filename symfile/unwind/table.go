package unwind

// Table is an opened section of unwind information: .eh_frame, .sframe, .ARM.exidx … Addresses are
// module-relative: the file's virtual address minus its preferred load address.
type Table interface {
	// Row returns the rules at an address, or false if no entry covers it. If an entry covers the
	// address but has no usable rules, Row returns false and the reason in Row.Origin.Note. An
	// error comes from the file's reader, or says what is wrong with the section and at which
	// offset.
	Row(rva uint64) (Row, bool, error)
	// Each calls f for every range of code [start, end) that shares one Row, in the section's
	// order. If f returns an error, Each stops and returns it. Each skips entries that it cannot
	// read and adds them to Warnings.
	Each(f func(start, end uint64, row Row) error) error
	// Warnings lists the entries skipped so far, each with its offset: the first few of each kind,
	// then their number.
	Warnings() []string
}

// Functions is a Table that knows where functions begin and end.
type Functions interface {
	// Function returns the code [start, end) of the function that covers an address, or else of the
	// last one that starts before it. ok is false if neither exists.
	Function(rva uint64) (start, end uint64, ok bool, err error)
}
