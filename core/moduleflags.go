package core

import (
	"sort"
	"strings"
)

// ModuleFlags are the oddities of a module, by which a viewer can explain why it has no symbols, or
// two names.
type ModuleFlags uint16

const (
	// ModuleNoSize: it has no bytes, or reaches beyond the end of the address space; it holds no
	// address.
	ModuleNoSize ModuleFlags = 1 << iota
	// ModuleOverlap: it shares addresses with another module that is not its duplicate.
	ModuleOverlap
	// ModuleDuplicate: a module with the same name and range is earlier in the list.
	ModuleDuplicate
	// ModuleDeleted: its file was deleted or replaced while the program ran ("… (deleted)", which
	// the kernel appends).
	ModuleDeleted
	// ModuleMemfd: it never was a file but memory with a name (memfd_create).
	ModuleMemfd
	// ModuleAPK: it is inside an Android package ("base.apk!/lib/arm64-v8a/libapp.so", or the
	// package itself).
	ModuleAPK
	// ModuleNoID: it has no debug id, so that no symbol file can be matched to it.
	ModuleNoID
	// ModuleNoName: it has no name.
	ModuleNoName
	// ModuleVirtual: it is not a file but a part of the kernel that it maps ("linux-gate.so",
	// "[vdso]").
	ModuleVirtual
)

// moduleFlagWords say the flags in plain words, lowest bit first.
var moduleFlagWords = []string{"no address range", "overlaps another module", "listed twice", "file deleted while in use",
	"memory, not a file", "inside an Android package", "no debug id", "no name", "mapped by the kernel"}

// Words returns the flags in plain words.
func (f ModuleFlags) Words() []string {
	out := []string{}
	for i, w := range moduleFlagWords {
		if f&(1<<i) != 0 {
			out = append(out, w)
		}
	}
	return out
}

// deletedSuffix is what Linux appends to the path of a mapped file that has been deleted
// (/proc/PID/maps).
const deletedSuffix = " (deleted)"

// File returns the module's name without what the kernel appends to it, and the member's name if it
// is inside a package.
func (m *Module) File() (file, member string) {
	file, member, _ = strings.Cut(strings.TrimSuffix(m.Name, deletedSuffix), "!/")
	return file, member
}

// flagModules sets the flags of all modules of a list.
func flagModules(list []Module) {
	type key struct {
		name       string
		base, size uint64
	}
	seen := make(map[key]bool, len(list))
	order := make([]int, 0, len(list))
	for i := range list {
		m := &list[i]
		m.Flags = m.ownFlags()
		k := key{m.Name, m.Base, m.Size}
		switch {
		case m.Flags&ModuleNoSize != 0:
		case seen[k]:
			m.Flags |= ModuleDuplicate
		default:
			seen[k] = true
			order = append(order, i)
		}
	}
	// A module overlaps if it begins before the furthest end of those with lower addresses; then
	// the one with that end does too.
	sort.SliceStable(order, func(a, b int) bool { return list[order[a]].Base < list[order[b]].Base })
	far := -1
	for _, i := range order {
		m := &list[i]
		if far >= 0 && m.Base < list[far].End() {
			m.Flags |= ModuleOverlap
			list[far].Flags |= ModuleOverlap
		}
		if far < 0 || m.End() > list[far].End() {
			far = i
		}
	}
}

// ownFlags returns the flags that a module has by itself.
func (m *Module) ownFlags() (f ModuleFlags) {
	file, member := m.File()
	for _, c := range []struct {
		is   bool
		flag ModuleFlags
	}{
		{m.Size == 0 || m.Base > ^uint64(0)-m.Size, ModuleNoSize},
		{strings.HasSuffix(m.Name, deletedSuffix), ModuleDeleted},
		{strings.HasPrefix(file, "/memfd:") || strings.HasPrefix(file, "memfd:"), ModuleMemfd},
		{member != "" || strings.HasSuffix(strings.ToLower(file), ".apk"), ModuleAPK},
		{m.DebugID == "", ModuleNoID},
		{m.Name == "", ModuleNoName},
		{file == "linux-gate.so" || file == "linux-vdso.so.1" || file == "[vdso]" || file == "[vsyscall]", ModuleVirtual},
	} {
		if c.is {
			f |= c.flag
		}
	}
	return f
}
