package core

// ListedRust finds the region of the dump's memory list that rust-minidump reads an address from:
// stream 9's if there is one, else stream 5's. Stacks count only if they are in the list too.
func (m *Memory) ListedRust(addr uint64) (Region, bool) { return m.listed(addr, true) }
