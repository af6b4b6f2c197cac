package core

// Memory is the crashed process' memory as far as the dump holds it: streams 5 and 9 and every thread's stack.
// It implements unwind.Memory.
type Memory struct{}

// Region is a run of addresses whose bytes are in the dump.
type Region struct {
	Start uint64
	Loc   Location
}
