package core

import (
	"fmt"
	"sort"
	"strings"
)

// All that files know about a program is relative to its start. Names are wrong where an entry of the
// module list begins elsewhere and nothing shows it:
//
//	/proc/PID/maps                           entry of the list      module-relative
//	5600000000-5600013000 r--p 00000 app     none
//	5600013000-5600053000 r-xp 13000 app     5600013000, 40000      13000
//
// What writers list on Linux and Android:
//
//   - Crashpad, LLDB, and sentry-native since 0.13.4 read a program's ELF header, and begin there.
//   - Breakpad's client and minidump-writer make an entry of each contiguous part that begins with
//     the file's first byte or can be executed, and write the memory maps. The library that Android
//     loads out of a package begins within the file. They look for its SONAME there, and name the
//     entry by it.
//   - sentry-native 0.13.2 and 0.13.3 make an entry of each mapping of code. The second writes the maps.
//   - Of other writers, and of tools that cut dumps, nothing is known.
//
// So an entry is taken to begin where its program does, unless the dump or a file contradicts. Then
// the start has to follow from the program's headers, in its file or in the dump's memory, or from
// the extent of its code, which the entry has in one place only.

// programStart is what a dump says about where a module's program begins.
type programStart struct {
	part ModuleMapping // its lowest entry
	end  uint64        // of its highest entry, and of those of its name above it that have no id
	line *Mapping      // of /proc/PID/maps, at the start of part
	// doubt says why it is not known that the program begins where part does; "" if nothing
	// contradicts.
	doubt string
}

// offset returns where in its file the lowest entry begins.
func (s *programStart) offset() uint64 { return s.line.Offset + s.part.Start - s.line.Start }

// Segment is a part of a program as its headers have it: an address relative to the program's
// start, and how many bytes of memory; those of the file come first.
type Segment struct {
	Start, Size      uint64
	Offset, FileSize uint64
	Exec             bool
}

// Section is a part of a program that its file names, in memory from Start on, and what the program
// may do there.
type Section struct {
	Start, Size uint64
	Name        string
	Write, Exec bool
}

// ProgramFile is what files say about a module's program.
type ProgramFile struct {
	// Segments are in the program's headers; nil if those are not there.
	Segments []Segment
	// From and To are the bounds of the code that a symbol file describes; To is 0 if there is no such
	// file.
	From, To uint64
	// Read reads the program's code, and returns how many bytes there were; nil if it is not there.
	Read func(rva uint64, p []byte) int
}

// mayListParts: entries may begin anywhere in their files, and no memory maps would say where.
func (d *Dump) mayListParts() bool {
	os := d.OS()
	return (os == OSLinux || os == Android) && len(d.Linux.Maps) == 0 && d.Micro == nil && d.Crashpad == nil && !d.SizesAreLeast()
}

// startOf returns what is known about a module's start; nil if that is not in doubt.
func (d *Dump) startOf(module int) *programStart {
	d.ModuleMappings(true)
	if module >= len(d.starts) || d.starts[module].part.Size == 0 || d.starts[module].doubt == "" && !d.mayListParts() {
		return nil
	}
	return &d.starts[module]
}

// StartInDoubt: a module's program may begin elsewhere than its entry. PlaceModule finds out.
func (d *Dump) StartInDoubt(module int) bool {
	_, placed := d.places[module]
	return !placed && d.startOf(module) != nil
}

// page is the smallest size of a page. The system may have larger ones.
const page = 4 << 10

// PlaceModule finds where the program of a module begins, whose start is in doubt. The module's
// addresses are relative to it from then on. PlaceModule returns why that is not known, or "".
func (d *Dump) PlaceModule(module int, f ProgramFile) (why string) {
	if !d.StartInDoubt(module) {
		return ""
	}
	s := d.startOf(module)
	if d.hasELF(s.part.Start) || d.placeByHeader(module, s) {
		return ""
	}
	why = s.doubt
	if len(f.Segments) > 0 {
		at, known := d.startBySegments(s, &f)
		if known {
			d.place(module, at)
			return ""
		}
		if why == "" {
			why = contradiction(s, &f)
		}
		if why == "" && !d.agrees(s, 0, &f) {
			why = "the code at its entry's start in the dump's memory is not what the program has there"
		}
		if why == "" {
			return ""
		}
	}
	size := s.end - s.part.Start
	if f.To <= f.From || s.doubt == "" && why == "" && f.To <= size {
		return why
	}
	if at, known := startByCode(s, &f); known {
		d.place(module, at)
		return ""
	}
	if why == "" {
		why = fmt.Sprintf("its entry has 0x%x bytes, and by the symbol file there is code up to 0x%x, so that the entry does not begin where the program does", size, f.To)
	}
	return why
}

// startByCode returns how far into its program an entry begins, if the code that a symbol file
// describes fits into the entry in one place only. Places are whole pages apart. One does not fit
// if it is beyond where the code begins, or leaves the code's end outside.
func startByCode(s *programStart, f *ProgramFile) (at uint64, known bool) {
	least, most := uint64(0), f.From/page
	if f.To > s.part.Size {
		least = (f.To - s.part.Size + page - 1) / page
	}
	return least * page, least == most
}

// contradiction says why an entry cannot be the program from its start on, by the program's
// segments; "" if it can.
func contradiction(s *programStart, f *ProgramFile) string {
	low := f.Segments[0]
	for _, g := range f.Segments {
		if g.Start < low.Start {
			low = g
		}
	}
	if size := s.end - s.part.Start; size < (low.Start+low.Size)&^(page-1) {
		return fmt.Sprintf("its entry has 0x%x bytes, and the program's first segment alone 0x%x, so that the entry does not begin where the program does", size, low.Start+low.Size)
	}
	return ""
}

// place says how many bytes after its program's start a module's lowest entry begins.
func (d *Dump) place(module int, at uint64) {
	if d.places == nil {
		d.places = map[int]uint64{}
	}
	d.places[module] = at
	if at > 0 {
		d.merged, d.modules = nil, nil
	}
}

// hasELF: the dump's memory has the ELF header of a program that begins at an address.
func (d *Dump) hasELF(base uint64) bool {
	var magic [4]byte
	return d.Memory.Read(base, magic[:]) == len(magic) && string(magic[:]) == "\x7fELF"
}

// placeByHeader places a module by the nearest ELF header below its entry in the dump's memory, if
// the entry can be a part of that program.
func (d *Dump) placeByHeader(module int, s *programStart) bool {
	const most = 4 // segments that a program has before its code
	left := uint64(256)
	regions := d.Memory.Regions()
	upTo := sort.Search(len(regions), func(k int) bool { return regions[k].Start > s.part.Start })
	for k := upTo - 1; k >= max(0, upTo-most); k-- {
		segments := d.elfSegments(regions[k].Start, &left)
		if segments == nil {
			continue
		}
		distance := s.part.Start - regions[k].Start
		for _, at := range d.mayBegin(s, segments) {
			if at == distance && at > 0 {
				d.place(module, at)
				return true
			}
		}
		return false
	}
	return false
}

// startBySegments returns how far into its program an entry begins, by the program's segments and
// the code in the dump's memory. It returns false if they allow for more than one place, or for
// none. The program's start comes first if nothing contradicts it.
func (d *Dump) startBySegments(s *programStart, f *ProgramFile) (at uint64, known bool) {
	n := 0
	for _, a := range d.mayBegin(s, f.Segments) {
		if d.agrees(s, a, f) {
			if a == 0 && s.doubt == "" {
				return 0, true
			}
			at = a
			n++
		}
	}
	return at, n == 1
}

// mayBegin returns the distances from a program's start at which an entry can begin: where a
// segment begins, with code in or above it, and a segment ends as far after it as the entry has
// bytes. Where the entry begins in the file is better, if the memory maps say so and the program is
// the whole file. Mappings are whole pages, of a size that only the system knows.
func (d *Dump) mayBegin(s *programStart, segments []Segment) (out []uint64) {
	seen := map[uint64]bool{}
	add := func(at uint64) {
		const most = 64 // more than programs have segments
		if !seen[at] && len(out) < most {
			seen[at] = true
			out = append(out, at)
		}
	}
	if s.line != nil && !isPackage(s.line) {
		offset := s.offset()
		for _, g := range segments {
			if from := g.Offset &^ (page - 1); g.Exec == s.line.executable() && from <= offset && offset < g.Offset+g.FileSize {
				add(g.Start&^(page-1) + offset - from)
			}
		}
		if len(out) > 0 { // a file of debug information has other offsets
			return out
		}
	}
	code := d.listsCode()
	for _, size := range [...]uint64{page, 16 << 10, 64 << 10} {
		down, up := func(a uint64) uint64 { return a &^ (size - 1) }, func(a uint64) uint64 { return (a + size - 1) &^ (size - 1) }
		ends, lastCode := map[uint64]bool{}, uint64(0)
		for _, g := range segments {
			ends[up(g.Start+g.Size)], ends[up(g.Start+g.FileSize)] = true, true
			if g.Exec {
				lastCode = max(lastCode, g.Start)
			}
		}
		for _, g := range segments {
			switch from := down(g.Start); {
			case code && (!g.Exec || up(g.Start+g.Size)-from != s.part.Size): // it is one segment of code
			case ends[from+s.part.Size] && g.Start <= lastCode: // writers list no data alone
				add(from)
			}
		}
	}
	return out
}

// agrees reports whether the program's code can be what the dump's memory has, if an entry begins
// at a distance from the program's start. It is true if the dump has no memory of the code. Code
// that was changed while the program ran is a small part of it.
func (d *Dump) agrees(s *programStart, at uint64, f *ProgramFile) bool {
	if f.Read == nil {
		return true
	}
	const regions, bytes, fewest = 16, 256, 16 // what is compared at most, and at least
	end := s.part.Start + s.part.Size
	all := d.Memory.Regions()
	compared, same := 0, 0
	first := sort.Search(len(all), func(k int) bool { return all[k].End() > s.part.Start })
	for k := first; k < min(len(all), first+regions) && all[k].Start < end; k++ {
		var have, want [bytes]byte
		from := max(all[k].Start, s.part.Start)
		n := d.Memory.Read(from, have[:min(bytes, end-from)])
		for i := range f.Read(from-s.part.Start+at, want[:n]) {
			if compared++; have[i] == want[i] {
				same++
			}
		}
	}
	return compared < fewest || same > compared/2
}

// isPackage: a file has libraries in it. Each begins on a page of its own.
func isPackage(l *Mapping) bool {
	return strings.HasSuffix(strings.TrimSuffix(l.Path, deletedSuffix), ".apk")
}

// findStarts returns what the merged entries and the memory maps say about where programs begin.
func (m *merger) findStarts(d *Dump) []programStart {
	starts := make([]programStart, len(d.Modules))
	for i := range m.out {
		p := &m.out[i]
		first := &m.out[p.Module]
		s := &starts[p.Module]
		if p.Start-p.RVA != first.Start-first.RVA { // a copy
			continue
		}
		if s.end = max(s.end, p.Start+p.Size); s.part.Size == 0 || p.Start < s.part.Start {
			s.part = *p
		}
	}
	for i := range starts {
		s := &starts[i]
		if s.part.Size == 0 || s.part.RVA > 0 {
			s.part.Size = 0 // the maps have the program's start, and no entry has it
			continue
		}
		if s.line = m.at(s.part.Start); s.line != nil && s.line.Path != "" && s.offset() > 0 && !m.startsLibrary(d, i, s) {
			s.doubt = fmt.Sprintf("its entry begins 0x%x bytes into the file, and the memory maps do not show where the program begins", s.offset())
		}
	}
	if d.mayListParts() {
		m.compareNames(d.Modules, starts)
	}
	if d.listsCode() {
		for i := range starts {
			starts[i].doubt = "the dump says where its code begins (Sentry's writer of that time), and not how far into the program that is"
		}
	}
	return starts
}

// startsLibrary: an entry within a file begins where a library does. The writer read a name there,
// or the file is a package, and the entry does not continue what is below it.
func (m *merger) startsLibrary(d *Dump, module int, s *programStart) bool {
	if FileName(strings.TrimSuffix(d.Modules[module].Name, deletedSuffix)) != FileName(strings.TrimSuffix(s.line.Path, deletedSuffix)) {
		return true
	}
	if i := m.below(s.part.Start); i > 0 && m.lines[i-1].sameFile(s.line) && s.line.follows(m.lines[i-1]) {
		return false
	}
	return isPackage(s.line) || m.files[s.line.file()].several
}

// compareNames compares each module with the entries of its name that have no id, and that are not
// adjacent to it. One that is below it may be where the program begins.
func (m *merger) compareNames(modules []Module, starts []programStart) {
	without := map[string][]ModuleMapping{}
	for i := range modules {
		if e := &modules[i]; e.mayBePart() && !e.hasID() && m.out[i].Module == i {
			without[e.Name] = append(without[e.Name], m.out[i])
		}
	}
	for _, all := range without {
		sort.Slice(all, func(a, b int) bool { return all[a].Start < all[b].Start })
	}
	for i := range modules {
		all := without[modules[i].Name]
		s := &starts[i]
		if len(all) == 0 || s.part.Size == 0 || !modules[i].hasID() {
			continue
		}
		k := sort.Search(len(all), func(k int) bool { return all[k].Start > s.part.Start })
		if k > 0 && s.part.Start-all[k-1].Start < reach {
			s.doubt = "an entry of its name without an id is below it, and the program may begin there"
		}
		k = sort.Search(len(all), func(k int) bool { return all[k].Start > s.part.Start+reach }) - 1
		if k >= 0 {
			s.end = max(s.end, all[k].Start+all[k].Size)
		}
	}
}
