package core

import (
	"sort"
	"strings"
)

// Breakpad's and rust-minidump's Linux writers make an entry of the module list for each contiguous
// part of a program. One whose segments have gaps between them is several entries of one name and
// id. So is one whose code is mapped once more, as V8 does with its builtins. All that is known about
// a program is relative to the address where it begins, so these are one module.
//
//	/proc/PID/maps (node 20)                 entry of the list      module-relative
//	00400000-00b71000 … 00000000 node        00400000               0
//	00b72000-025fe000 … 00772000 node        00b72000               772000
//	02600000-0565d000 … 02200000 node        02600000               2200000
//	7f3e4000-7f576000 … 014c4000 node        7f3e4000               14c4000: the second mapping's bytes at that offset
//
// A writer that looks for the id where an entry begins finds none in some of them. These belong to
// the module if the maps show that they are of the one file, and so does its start, if that is in an
// entry without an id or in none.

// ModuleMappings returns the address ranges of the modules: a mapping for each entry of the list,
// in its order. With merged, the entries of one file are mappings of one module: the first entry
// that has the id and is not a copy. After the entries' mappings there are those of code that the
// writer left out of the list, as it does where it cannot read an id. Without merged, each entry is
// a module of its own, as stored. Entries are merged on Linux and Android only: other systems list
// each module once. The caller must not change the result.
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
	for i, size := range d.sizes {
		out[i].Size = size
	}
	d.starts = nil
	if os := d.OS(); os == OSLinux || os == Android {
		m := &merger{out: out, work: maxMergeWork}
		m.read(d.Linux.Maps)
		m.readIDs(d.Modules)
		d.eachFile(m.merge)
		m.mergeAdjacent(d.Modules)
		out = m.out
		d.starts = m.findStarts(d)
		for i := range out {
			out[i].RVA += d.places[out[i].Module]
		}
	}
	d.merged = out
	return out
}

// ModuleMap finds modules by address, with the entries of one file merged or not. In Android's
// microdumps it is the higher one of two overlapping modules that is cut, not the lower.
func (d *Dump) ModuleMap(merged bool, overlap Overlap) *ModuleMap {
	if d.Micro != nil && d.OS() == Android && overlap == OverlapTruncate {
		overlap = OverlapTruncateUpper
	}
	return NewModuleMap(d.ModuleMappings(merged), overlap)
}

// ModuleAt returns the module that covers an address, entries of one file merged, and the
// module-relative address, or -1 and 0.
func (d *Dump) ModuleAt(addr uint64) (module int, rva uint64) {
	if d.modules == nil {
		d.modules = d.ModuleMap(true, OverlapTruncate)
	}
	return d.modules.Find(addr)
}

// eachFile yields the entries that have their name and their id in common, in the order of
// addresses. A name without an id says nothing: libraries of one name are common, and all of an
// Android package are "base.apk".
func (d *Dump) eachFile(yield func(entries []int)) {
	var all []int
	for i := range d.Modules {
		if m := &d.Modules[i]; m.mayBePart() && m.hasID() {
			all = append(all, i)
		}
	}
	same := func(a, b *Module) bool { return a.Name == b.Name && a.DebugID == b.DebugID }
	sort.SliceStable(all, func(i, j int) bool {
		a, b := &d.Modules[all[i]], &d.Modules[all[j]]
		if same(a, b) {
			return a.Base < b.Base
		}
		return a.Name < b.Name || a.Name == b.Name && a.DebugID < b.DebugID
	})
	for from, i := 0, 1; i <= len(all); i++ {
		if i == len(all) || !same(&d.Modules[all[from]], &d.Modules[all[i]]) {
			yield(all[from:i])
			from = i
		}
	}
}

// mayBePart: an entry may be a part of a file.
func (m *Module) mayBePart() bool {
	return m.Name != "" && m.Flags&(ModuleNoSize|ModuleDuplicate) == 0
}

func (m *Module) hasID() bool { return !NoID(m.DebugID) }

// merger merges entries of the module list.
type merger struct {
	out      []ModuleMapping
	lines    []*Mapping // of /proc/PID/maps, by address
	unlisted []*Mapping // those of code in files that no entry covers
	work     int        // how many lines may still be looked at
	files    map[fileKey]*fileIDs
}

// fileKey is what tells files apart in the maps: a path alone does not, since one may have been
// replaced.
type fileKey struct {
	path, device string
	inode        uint64
}

func (m *Mapping) file() fileKey { return fileKey{m.Path, m.Device, m.Inode} }

// fileIDs is what the module list says about a file's id.
type fileIDs struct {
	id      string
	several bool  // there is another id: the file is a package with several libraries in it
	without []int // the entries without an id
}

// readIDs collects the ids of each file.
func (m *merger) readIDs(modules []Module) {
	m.files = map[fileKey]*fileIDs{}
	for i := range modules {
		l := m.at(modules[i].Base)
		if l == nil || l.Path == "" || !modules[i].mayBePart() {
			continue
		}
		f := m.files[l.file()]
		if f == nil {
			f = &fileIDs{}
			m.files[l.file()] = f
		}
		switch id := modules[i].DebugID; {
		case !modules[i].hasID():
			f.without = append(f.without, i)
		case f.id == "":
			f.id = id
		case f.id != id:
			f.several = true
		}
	}
}

// maxMergeWork bounds the lines that are looked at; a real process has some thousands, and some
// files that are several entries.
const maxMergeWork = 32 * maxMaps

// read keeps the lines that map something, by address, and notes those of executable files that no
// entry of the module list covers.
func (m *merger) read(lines []Mapping) {
	listed := NewModuleMap(m.out, OverlapTruncate)
	for i := range lines {
		l := &lines[i]
		if l.End <= l.Start {
			continue
		}
		m.lines = append(m.lines, l)
		if l.Path != "" && l.executable() && !listed.Covers(l.Start) {
			m.unlisted = append(m.unlisted, l)
		}
	}
	sort.SliceStable(m.lines, func(a, b int) bool { return m.lines[a].Start < m.lines[b].Start })
}

// below returns the index of the last line that begins at an address or below it, or -1.
func (m *merger) below(addr uint64) int {
	return sort.Search(len(m.lines), func(i int) bool { return m.lines[i].Start > addr }) - 1
}

// at returns the line of an address, or nil.
func (m *merger) at(addr uint64) *Mapping {
	if i := m.below(addr); i >= 0 && addr < m.lines[i].End {
		return m.lines[i]
	}
	return nil
}

// startsBelow: the program that has a part of a file at an address begins there or below it, with
// the file's first byte. Its segments follow each other in the file as they do in memory.
func (m *merger) startsBelow(addr uint64) bool {
	i := m.below(addr)
	part := m.lines[i]
	for i--; i >= 0 && part.Offset > 0 && m.work > 0; i-- {
		m.work--
		switch l := m.lines[i]; {
		case l.sameFile(part) && !l.reserved():
			if !part.follows(l) {
				return false
			}
			part = l
		case l.Path != "" && !l.reserved():
			return false
		}
	}
	return part.Offset == 0
}

// largestPage is the largest size of a page that linkers align segments to (System V ABI, AArch64
// and PowerPC supplements: 64 KiB). Two segments may share a page of the file, or have less than one
// between them.
const largestPage = 64 << 10

// follows: a line continues another in the file.
func (m *Mapping) follows(l *Mapping) bool {
	end := l.Offset + l.End - l.Start
	return m.Offset > l.Offset && m.Offset+largestPage > end && m.Offset < end+largestPage
}

func (m *Mapping) sameFile(o *Mapping) bool { return m.file() == o.file() }

// reserved: nothing may be done with the memory. The loader keeps gaps in a program free in this
// way.
func (m *Mapping) reserved() bool { return strings.HasPrefix(m.Perms, "---") }

// linesOf returns the lines of the same file.
func (m *Mapping) linesOf(lines []*Mapping) (out []*Mapping) {
	for _, l := range lines {
		if l.sameFile(m) && !l.reserved() {
			out = append(out, l)
		}
	}
	return out
}

func (m *Mapping) executable() bool { return strings.Contains(m.Perms, "x") }

// merge merges the entries of one name and id, by the maps if they have all of them.
func (m *merger) merge(entries []int) {
	var file *Mapping
	var one []int // entries of the first one's file; another file of that name replaced it, and is left as it is
	for _, i := range entries {
		l := m.at(m.out[i].Start)
		if l == nil || l.Path == "" {
			m.mergeNear(entries)
			return
		}
		if file == nil {
			file = l
		}
		if l.sameFile(file) {
			one = append(one, i)
		}
	}
	if m.work -= len(m.unlisted); m.work > 0 {
		m.mergeFile(one, file)
	}
}

// reach is the most bytes that a program spans in memory: its parts address each other by signed
// displacements of 32 bits (System V ABI, AMD64, 3.5.1, the small code model).
const reach = 1 << 31

// mergeNear merges entries of one name and id that are within reach of the lowest, where the dump
// has no memory map. A library that is mapped twice, as by dlmopen, is recognized by its shape: the
// same sizes again, at the same distances.
func (m *merger) mergeNear(entries []int) {
	for len(entries) > 0 {
		base := m.out[entries[0]].Start
		n := 1
		for n < len(entries) && m.out[entries[n]].Start+m.out[entries[n]].Size-base <= reach {
			n++
		}
		part := 1
		for part < n && (n%part != 0 || !m.repeats(entries[:n], part)) {
			part++
		}
		for ; n > 0; n -= part {
			base, module := m.out[entries[0]].Start, entries[0]
			for _, i := range entries[:part] {
				module = min(module, i)
			}
			for _, i := range entries[:part] {
				m.out[i].Module, m.out[i].RVA = module, m.out[i].Start-base
			}
			entries = entries[part:]
		}
	}
}

// mergeAdjacent adds entries without an id to the module of their name that they are adjacent to,
// where the dump has no memory map. A loader keeps a program together, so that it begins in the
// lowest of the entries that follow each other.
//
//	entry of the list         id      module-relative
//	7f0000-7f3000    a.so             0
//	7f3000-7f5000    a.so     9c3e…   3000
//	7f5000-7f6000    a.so             5000
//
// A name with several ids is that of a package with several libraries in it.
func (m *merger) mergeAdjacent(modules []Module) {
	ids := map[string]string{} // by name
	several := map[string]bool{}
	var all []int
	for i := range modules {
		if e := &modules[i]; e.mayBePart() && m.at(e.Base) == nil {
			all = append(all, i)
			if id := ids[e.Name]; e.hasID() && id != e.DebugID {
				several[e.Name] = several[e.Name] || id != ""
				ids[e.Name] = e.DebugID
			}
		}
	}
	sort.SliceStable(all, func(a, b int) bool { return m.out[all[a]].Start < m.out[all[b]].Start })
	below := map[int]uint64{} // how far below its entries with an id a module begins
	for len(all) > 0 {
		name, with, n := modules[all[0]].Name, -1, 0
		for ; n < len(all) && modules[all[n]].Name == name && (n == 0 || m.out[all[n-1]].Start+m.out[all[n-1]].Size == m.out[all[n]].Start); n++ {
			if with < 0 && modules[all[n]].hasID() {
				with = all[n]
			}
		}
		if with >= 0 && !several[name] {
			m.mergeRun(all[:n], modules, m.out[with], below)
		}
		all = all[n:]
	}
	for i := range m.out {
		m.out[i].RVA += below[m.out[i].Module]
	}
}

// mergeRun adds the entries of a run that have no id to the module of the one that has, by its
// distance. They may be below the module's start as it was until now.
func (m *merger) mergeRun(run []int, modules []Module, with ModuleMapping, below map[int]uint64) {
	for _, k := range run {
		if e := &m.out[k]; !modules[k].hasID() {
			e.Module, e.RVA = with.Module, with.RVA+e.Start-with.Start
		}
	}
	if down := with.Start - m.out[run[0]].Start; down > with.RVA {
		below[with.Module] = max(below[with.Module], down-with.RVA)
	}
}

// repeats reports whether entries are one part, as long as given, again and again.
func (m *merger) repeats(entries []int, part int) bool {
	for i := part; i < len(entries); i++ {
		a, b := &m.out[entries[i-part]], &m.out[entries[i]]
		first, again := &m.out[entries[(i-part)/part*part]], &m.out[entries[i/part*part]]
		if a.Size != b.Size || a.Start-first.Start != b.Start-again.Start {
			return false
		}
	}
	return true
}

// load is a program as the system mapped it: lines of its file in the order of addresses, and so of
// offsets.
type load struct {
	lines  []*Mapping
	module int // or -1, if it contains no entry
}

func (l *load) base() uint64 { return l.lines[0].Start }

func (l *load) covers(addr uint64) bool {
	return addr >= l.base() && addr < l.lines[len(l.lines)-1].End
}

// mergeFile merges entries of one file. An entry that is in none of the file's loads is a copy of
// that part of a load which has its bytes; if there is no such part it stays as it is.
func (m *merger) mergeFile(entries []int, file *Mapping) {
	offset := func(addr uint64) uint64 { // in the file
		l := m.at(addr)
		return l.Offset + addr - l.Start
	}
	first := m.out[entries[0]].Start
	for _, i := range entries {
		if at := m.out[i].Start; offset(at) < offset(first) {
			first = at
		}
	}
	lowest := offset(first)
	unlisted, ids := file.linesOf(m.unlisted), m.files[file.file()]
	whole := !ids.several && m.startsBelow(first)
	if len(entries)+len(unlisted)+len(ids.without) < 2 && !(whole && lowest > 0) {
		return
	}
	if m.work -= len(m.lines) * (len(entries) + len(unlisted)); m.work < 0 {
		return
	}
	if whole {
		lowest = 0
	}
	loads := loadsOf(file.linesOf(m.lines), lowest)
	for _, i := range entries {
		for k := range loads {
			if l := &loads[k]; l.covers(m.out[i].Start) && (l.module < 0 || l.module > i) {
				l.module = i
			}
		}
	}
	for _, i := range entries {
		if p, ok := m.place(m.out[i].Start, m.out[i].Size, offset(m.out[i].Start), loads); ok {
			m.out[i] = p
		}
	}
	if whole {
		for _, i := range ids.without {
			if p, ok := inLoad(m.out[i].Start, m.out[i].Size, loads); ok {
				m.out[i] = p
			}
		}
	}
	if lowest != 0 { // a library inside of a package, whose other lines may be of other libraries
		return
	}
	for _, l := range unlisted {
		if p, ok := m.place(l.Start, l.End-l.Start, l.Offset, loads); ok {
			m.out = append(m.out, p)
		}
	}
}

// place finds the load that contains a part of the file, or else the one that has the bytes from
// its offset on, as far as they are contiguous in both. It returns false if no load has them.
func (m *merger) place(start, size, offset uint64, loads []load) (ModuleMapping, bool) {
	if p, ok := inLoad(start, size, loads); ok {
		return p, true
	}
	for k := range loads {
		for _, l := range loads[k].lines {
			if room := l.End - l.Start; loads[k].module >= 0 && offset >= l.Offset && offset-l.Offset < room {
				in := offset - l.Offset
				return ModuleMapping{start, min(size, room-in, m.contiguous(start)), l.Start + in - loads[k].base(), loads[k].module}, true
			}
		}
	}
	return ModuleMapping{}, false
}

// inLoad finds the load that contains a part of the file.
func inLoad(start, size uint64, loads []load) (ModuleMapping, bool) {
	for k := range loads {
		if l := &loads[k]; l.module >= 0 && l.covers(start) {
			return ModuleMapping{start, size, start - l.base(), l.module}, true
		}
	}
	return ModuleMapping{}, false
}

// contiguous returns how many bytes of a file are mapped from an address on, one after the other.
// The writer's entry may go on after them: V8's copied builtins are in the middle of memory that
// it reserves for generated code.
func (m *merger) contiguous(start uint64) uint64 {
	first := m.at(start)
	end := first.End
	for l := m.at(end); l != nil && l.sameFile(first) && l.Offset-first.Offset == end-first.Start; l = m.at(end) {
		end = l.End
	}
	return end - start
}

// loadsOf finds the loads of a program among the lines of its file, which may hold others too. A
// load begins with the program's lowest offset, and goes on while offsets rise with addresses:
// linkers place segments in this order, and a second load, or a part that is mapped once more,
// begins lower. Other files may be between its parts: the kernel keeps no gap in a program that it
// loads itself, such as ld.so. A file that is only read is mapped from its start too, but nothing of
// it can be executed.
func loadsOf(lines []*Mapping, lowest uint64) []load {
	var all, executed []load
	open := false
	for i := range lines {
		switch n := len(all) - 1; {
		case lines[i].Offset == lowest:
			all = append(all, load{lines: lines[i : i+1], module: -1})
			open = true
		case open && lines[i].Offset > lines[i-1].Offset:
			all[n].lines = all[n].lines[:len(all[n].lines)+1]
		default:
			open = false
		}
	}
	for _, l := range all {
		for _, line := range l.lines {
			if line.executable() {
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
