package core

import "sort"

// Until its release 0.13.4 Sentry's own writer of minidumps lists mappings of code, on Linux and
// Android, where others list programs. Where in its file such a mapping begins, 0.13.3 says in the
// memory maps, and 0.13.2 nowhere.
//
//	/proc/PID/maps                           entry of the list      module-relative
//	5600000000-5600013000 r--p 00000 app     none
//	5600013000-5600053000 r-xp 13000 app     5600013000, 40000      13000
//
// Where the program's headers are known, from its file or from the dump's memory, they say which
// segment has the entry's size.

// Segment is a part of a program as its headers have it: an address relative to the program's
// start, and how many bytes of memory.
type Segment struct {
	Start, Size uint64
	Exec        bool
}

// sentryCode is what sentry-native 0.13.2 adds to the number of a signal, on Linux and macOS
// (sentry_minidump_linux.c and sentry_minidump_macos.c, write_exception_stream).
const sentryCode = 0x40000000

// SignalOf returns the number of the signal in an exception of Sentry's writer, where that is not
// what the exception's code means: 0.13.2 adds sentryCode, and up to 0.14.2 the number is in the place
// of a Mach exception on macOS. What tells these dumps from Crashpad's and Breakpad's is that the
// exception has neither flags nor parameters, and the shortest MiscInfo stream only the process id.
func (d *Dump) SignalOf(e *Exception) (number uint32, ok bool) {
	if e.Flags != 0 || len(e.Params) > 0 || e.Code == 0 || d.SizesAreLeast() {
		return 0, false
	}
	const signals = 65 // and more than any system has
	switch os := d.OS(); {
	case os != OSLinux && os != Android && os != MacOS && os != IOS:
		return 0, false
	case e.Code&sentryCode != 0:
		number = e.Code &^ sentryCode
		return number, number > 0 && number < signals
	case (os == MacOS || os == IOS) && d.Misc != nil && d.Misc.Size == misc1Size && d.Misc.Flags == miscProcessID:
		return e.Code, e.Code < signals
	}
	return 0, false
}

// ListsCode: the entries of the module list begin where the code of their programs does.
func (d *Dump) ListsCode() bool {
	if d.Exception == nil || !d.mayListCode() {
		return false
	}
	_, ok := d.SignalOf(d.Exception)
	return ok
}

// mayListCode: entries may begin anywhere in their files. Memory maps would say where.
func (d *Dump) mayListCode() bool {
	os := d.OS()
	return (os == OSLinux || os == Android) && len(d.Linux.Maps) == 0 && d.Micro == nil && !d.SizesAreLeast()
}

// PlaceModule says which segments a module's program has. If the module's entry is no more than
// a segment of code, its addresses are relative to the program's start from then on. It returns
// whether it is known where the program begins.
func (d *Dump) PlaceModule(module int, segments []Segment) bool {
	if !d.mayListCode() || module >= len(d.Modules) {
		return true
	}
	m := &d.Modules[module]
	if _, known := d.places[module]; known || d.hasELF(m.Base) {
		return true
	}
	start, one := d.placeOf(m.Size, segments)
	if !one || start == 0 {
		return one || !d.ListsCode()
	}
	if d.places == nil {
		d.places = map[int]uint64{}
	}
	d.places[module] = start
	d.merged, d.modules = nil, nil
	return true
}

// hasELF: the dump's memory has the ELF header of a program that begins at an address.
func (d *Dump) hasELF(base uint64) bool {
	var magic [4]byte
	return d.Memory.Read(base, magic[:]) == len(magic) && string(magic[:]) == "\x7fELF"
}

// placeOf returns where the mapping of a program's code begins that has a size; false if no segment
// or several could be it. Mappings are whole pages, of a size that only the system knows.
func (d *Dump) placeOf(size uint64, segments []Segment) (start uint64, one bool) {
	for _, page := range [...]uint64{4 << 10, 16 << 10, 64 << 10} {
		for _, s := range segments {
			from, to := s.Start&^(page-1), (s.Start+s.Size+page-1)&^(page-1)
			if to-from != size || one && from == start || !s.Exec && d.ListsCode() {
				continue
			}
			if one || !s.Exec {
				return 0, false
			}
			start, one = from, true
		}
	}
	return start, one
}

// placeByHeaders places the modules whose program headers are in the dump's memory, as they are in
// Sentry's full dumps: at the nearest ELF header below an entry.
func (d *Dump) placeByHeaders() {
	if !d.ListsCode() {
		return
	}
	left := d.mostHeaders()
	const most = 4 // segments that a program has before its code
	regions := d.Memory.Regions()
	for i := range d.Modules {
		m := &d.Modules[i]
		upTo := sort.Search(len(regions), func(k int) bool { return regions[k].Start > m.Base })
		for k := upTo - 1; k >= max(0, upTo-most); k-- {
			if segments := d.elfSegments(regions[k].Start, &left); segments != nil {
				if start, one := d.placeOf(m.Size, segments); one && start == m.Base-regions[k].Start {
					d.PlaceModule(i, segments)
				}
				break
			}
		}
	}
}
