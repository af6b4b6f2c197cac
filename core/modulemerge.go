package core

import (
	"sort"
	"strings"
)

// Breakpad's and rust-minidump's Linux writers make an entry of the module list for each contiguous part of a program: one whose
// segments have gaps between them is several entries of one name and id, and so is one whose code is mapped once more, as V8 does
// with its builtins. All that is known of a program is relative to the address where it begins, so these are one module.
//
//	/proc/PID/maps (node 20)                 entry of the list      module-relative
//	00400000-00b71000 … 00000000 node        00400000               0
//	00b72000-025fe000 … 00772000 node        00b72000               772000
//	02600000-0565d000 … 02200000 node        02600000               2200000
//	7f3e4000-7f576000 … 014c4000 node        7f3e4000               14c4000: the second mapping's bytes at that offset

// ModuleMappings are where the modules lie: a mapping for each entry of the list, in its order. With merged, the entries of one
// file are mappings of one module, the first entry's that is not a copy; and behind the entries' there are mappings of code that the
// writer left out of the list, as it does where it cannot read an id. Otherwise each entry is a module of its own, as stored.
// Merged on Linux and Android alone: other systems list each module once. The answer is not to be changed.
func (d *Dump) ModuleMappings(merged bool) []ModuleMapping {
	if merged && d.merged != nil {
		return d.merged
	}
	out := make([]ModuleMapping, len(d.Modules))
	for i := range d.Modules {
		out[i] = ModuleMapping{Start: d.Modules[i].Base, Size: d.Modules[i].Size, Module: i}
	}
	if !merged {
		return out
	}
	if os := d.OS(); os == OSLinux || os == Android {
		maps := sortMaps(d.Linux.Maps)
		maps.listed = NewModuleMap(out, OverlapTruncate)
		for _, entries := range d.sameFiles() {
			if files := maps.files(out, entries); files == nil {
				mergeNear(out, entries)
			} else {
				for _, one := range files {
					out = maps.merge(out, one)
				}
			}
		}
	}
	d.merged = out
	return out
}

// ModuleMap finds modules by address, with the entries of one file merged or not. In Android's microdumps it is the higher one of two
// overlapping modules that is cut, not the lower.
func (d *Dump) ModuleMap(merged bool, overlap Overlap) *ModuleMap {
	if d.Micro != nil && d.OS() == Android && overlap == OverlapTruncate {
		overlap = OverlapTruncateUpper
	}
	return NewModuleMap(d.ModuleMappings(merged), overlap)
}

// ModuleAt is the module that covers an address, entries of one file merged, and the module-relative address; -1 and 0 if there is
// none.
func (d *Dump) ModuleAt(addr uint64) (module int, rva uint64) {
	if d.modules == nil {
		d.modules = d.ModuleMap(true, OverlapTruncate)
	}
	return d.modules.Find(addr)
}

// sameFiles are the entries that have their name and their id in common, each group in the order of addresses. A name without an id
// says nothing: libraries of one name are common, and all of an Android package are "base.apk".
func (d *Dump) sameFiles() [][]int {
	type key struct{ name, id string }
	at := map[key]int{}
	var all [][]int
	for i := range d.Modules {
		m := &d.Modules[i]
		if m.Name == "" || strings.Trim(m.DebugID, "0") == "" || m.Flags&(ModuleNoSize|ModuleDuplicate) != 0 {
			continue
		}
		k := key{m.Name, m.DebugID}
		n, ok := at[k]
		if !ok {
			n = len(all)
			at[k] = n
			all = append(all, nil)
		}
		all[n] = append(all[n], i)
	}
	for _, g := range all {
		sort.SliceStable(g, func(a, b int) bool { return d.Modules[g[a]].Base < d.Modules[g[b]].Base })
	}
	return all
}

// reach is the most bytes that a program spans in memory: its parts address each other by signed displacements of 32 bits (System V
// ABI, AMD64, 3.5.1, the small code model).
const reach = 1 << 31

// mergeNear merges entries of one name and id that are within reach of the lowest, where no memory map tells more. A library
// that is mapped twice, as by dlmopen, is told by its shape: the same sizes again, at the same distances.
func mergeNear(out []ModuleMapping, entries []int) {
	for len(entries) > 0 {
		base := out[entries[0]].Start
		n := 1
		for n < len(entries) && out[entries[n]].Start+out[entries[n]].Size-base <= reach {
			n++
		}
		part := repeats(out, entries[:n])
		for ; n > 0; n -= part {
			unite(out, entries[:part], out[entries[0]].Start)
			entries = entries[part:]
		}
	}
}

// repeats is how many entries, from the first on, the others are repetitions of; all of them if they are none.
func repeats(out []ModuleMapping, entries []int) int {
	n := len(entries)
next:
	for part := 1; part <= n/2; part++ {
		if n%part != 0 {
			continue
		}
		for i := part; i < n; i++ {
			a, b := &out[entries[i-part]], &out[entries[i]]
			first, again := &out[entries[(i-part)/part*part]], &out[entries[i/part*part]]
			if a.Size != b.Size || a.Start-first.Start != b.Start-again.Start {
				continue next
			}
		}
		return part
	}
	return n
}

// unite makes entries mappings of one module, that of the first in the list, whose RVA 0 is at base.
func unite(out []ModuleMapping, entries []int, base uint64) (module int) {
	module = entries[0]
	for _, i := range entries {
		module = min(module, i)
	}
	for _, i := range entries {
		out[i].Module, out[i].RVA = module, out[i].Start-base
	}
	return module
}

// sortedMaps is /proc/PID/maps by address.
type sortedMaps struct {
	lines []Mapping
	of    map[mappedFile][]Mapping // the lines of each file, without the gaps that it keeps free
	work  int                      // lines that were looked at
	// listed are the entries as stored.
	listed *ModuleMap
}

// mappedFile is what tells one mapped file from another. A path alone does not: the file may have been replaced.
type mappedFile struct {
	path, device string
	inode        uint64
}

func (m *Mapping) file() mappedFile { return mappedFile{m.Path, m.Device, m.Inode} }

func (m *Mapping) executable() bool { return strings.Contains(m.Perms, "x") }

// maxMergeWork bounds how many lines are looked at; a real process has some thousands, and one file that is several modules.
const maxMergeWork = 32 * maxMaps

func sortMaps(lines []Mapping) *sortedMaps {
	s := &sortedMaps{of: map[mappedFile][]Mapping{}}
	for _, l := range lines {
		if l.End > l.Start {
			s.lines = append(s.lines, l)
		}
	}
	sort.SliceStable(s.lines, func(a, b int) bool { return s.lines[a].Start < s.lines[b].Start })
	for _, l := range s.lines {
		if l.Path != "" && !strings.HasPrefix(l.Perms, "---") {
			s.of[l.file()] = append(s.of[l.file()], l)
		}
	}
	return s
}

// at is the line of an address, or nil.
func (s *sortedMaps) at(addr uint64) *Mapping {
	i := sort.Search(len(s.lines), func(i int) bool { return s.lines[i].Start > addr }) - 1
	if i < 0 || addr >= s.lines[i].End {
		return nil
	}
	return &s.lines[i]
}

// files are the entries by the file that is mapped where they begin; nil if that is not known of all.
func (s *sortedMaps) files(out []ModuleMapping, entries []int) [][]int {
	at := map[mappedFile]int{}
	var files [][]int
	for _, i := range entries {
		l := s.at(out[i].Start)
		if l == nil || l.Path == "" {
			return nil
		}
		n, ok := at[l.file()]
		if !ok {
			n = len(files)
			at[l.file()] = n
			files = append(files, nil)
		}
		files[n] = append(files[n], i)
	}
	return files
}

// load is a program as the system mapped it: lines of its file in the order of addresses, and so of offsets.
type load struct {
	lines   []Mapping
	entries []int
	module  int
}

func (l *load) base() uint64 { return l.lines[0].Start }

func (l *load) covers(addr uint64) bool {
	return addr >= l.base() && addr < l.lines[len(l.lines)-1].End
}

// merge merges entries of one file. An entry that is in none of its loads is a copy of that part of a load which has its bytes; if
// there is no such part it stays as it is.
func (s *sortedMaps) merge(out []ModuleMapping, entries []int) []ModuleMapping {
	offset := func(i int) uint64 { // in the file, of an entry's first byte
		l := s.at(out[i].Start)
		return l.Offset + out[i].Start - l.Start
	}
	lowest := offset(entries[0])
	for _, i := range entries {
		lowest = min(lowest, offset(i))
	}
	lines := s.of[s.at(out[entries[0]].Start).file()]
	if s.work += len(lines) * len(entries); s.work > maxMergeWork {
		return out
	}
	loads := loadsOf(lines, lowest)
	var copies []int
next:
	for _, i := range entries {
		for k := range loads {
			if l := &loads[k]; l.covers(out[i].Start) {
				l.entries = append(l.entries, i)
				continue next
			}
		}
		copies = append(copies, i)
	}
	for k := range loads {
		if l := &loads[k]; len(l.entries) > 0 {
			l.module = unite(out, l.entries, l.base())
		}
	}
	for _, i := range copies {
		if m, ok := placed(out[i].Start, min(out[i].Size, s.contiguous(out[i].Start)), offset(i), loads); ok {
			out[i] = m
		}
	}
	if lowest != 0 { // a library inside of a package, whose other lines may be of other libraries
		return out
	}
	for i := range lines {
		if l := &lines[i]; l.executable() && !s.listed.Covers(l.Start) {
			if s.work += len(lines); s.work > maxMergeWork {
				break
			}
			if m, ok := placed(l.Start, l.End-l.Start, l.Offset, loads); ok {
				out = append(out, m)
			}
		}
	}
	return out
}

// contiguous is how many bytes of a file are mapped from an address on, one after the other. The writer's entry may go on behind
// them: V8's copied builtins are in the middle of memory that it reserves for generated code.
func (s *sortedMaps) contiguous(start uint64) uint64 {
	first := s.at(start)
	end := first.End
	for l := s.at(end); l != nil && l.file() == first.file() && l.Offset-first.Offset == end-first.Start; l = s.at(end) {
		end = l.End
	}
	return end - start
}

// placed is a part of the file as a mapping of the load that it lies in, or else of the one that has its bytes, as far as they are
// contiguous there; false if there is none.
func placed(start, size, offset uint64, loads []load) (ModuleMapping, bool) {
	for k := range loads {
		if l := &loads[k]; len(l.entries) > 0 && l.covers(start) {
			return ModuleMapping{start, size, start - l.base(), l.module}, true
		}
	}
	for k := range loads {
		for _, l := range loads[k].lines {
			if room := l.End - l.Start; len(loads[k].entries) > 0 && offset >= l.Offset && offset-l.Offset < room {
				in := offset - l.Offset
				return ModuleMapping{start, min(size, room-in), l.Start + in - loads[k].base(), loads[k].module}, true
			}
		}
	}
	return ModuleMapping{}, false
}

// loadsOf finds the loads of a program among the lines of its file, which may hold others too. A load begins with the program's
// lowest offset, and goes on while offsets rise with addresses: linkers lay segments out so, and a second load, or a part that is
// mapped once more, begins lower. A file that is only read is mapped from its start too, but nothing of it can be executed.
func loadsOf(lines []Mapping, lowest uint64) []load {
	var all, executed []load
	open := false
	for i := range lines {
		switch n := len(all) - 1; {
		case lines[i].Offset == lowest:
			all = append(all, load{lines: lines[i : i+1]})
			open = true
		case open && lines[i].Offset > lines[i-1].Offset:
			l := &all[n]
			l.lines = l.lines[:len(l.lines)+1]
		default:
			open = false
		}
	}
	for _, l := range all {
		for i := range l.lines {
			if l.lines[i].executable() {
				executed = append(executed, l)
				break
			}
		}
	}
	if executed == nil {
		return all
	}
	return executed
}
